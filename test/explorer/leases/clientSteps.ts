/** What the two clients may do next, and what reaches them. Their rules are those of leases.ts and clientSession.ts. */
import type { Command } from "@quorate/client/protocol";
import { acquireCommand } from "../../machine/party.ts";
import { applyNext, confirmed, heard, isSameFlight, withClient } from "./entries.ts";
import type { Add } from "./leaderSteps.ts";
import type { Model } from "./model.ts";
import { name } from "./stores.ts";
import type { Client, Flight, World } from "./world.ts";

const clientNames = ["A", "B"];

export function acquireBy(client: number): Command {
  return acquireCommand([name], clientNames[client]!);
}

export function addClientSteps(model: Model, world: World, add: Add): void {
  for (const [at, client] of world.clients.entries()) {
    addRenewal(world, at, client, add);
    addAnswer(model, world, at, client, add);
    addGrant(model, world, at, client, add);
    addOwnActs(model, world, at, client, add);
    for (const command of client.outbox) {
      if (!world.leader.isSettled) continue;
      const { label } = model.stores.commands[command]!;
      add(`${label} is appended`, () => {
        const outbox = client.outbox.filter((one) => one !== command);
        const pending = [...world.pending, { command, term: world.leader.term }];
        return withClient({ ...world, pending }, at, { outbox });
      });
    }
  }
  for (const answer of world.answers) addDelivery(model, world, answer, add);
}

function addRenewal(world: World, at: number, client: Client, add: Add): void {
  const { budget, now, requests } = world;
  const left = budget.renewals[at]!;
  if (left === 0 || client.phase === "idle") return;
  const request: Flight = { client: at, sent: now, term: 0 };
  if (client.confirmed === now || requests.some((one) => isSameFlight(one, request))) return;
  const renewals = budget.renewals.with(at, left - 1) as unknown as World["budget"]["renewals"];
  add(`${clientNames[at]} sends a keep-alive`, () => {
    return { ...world, requests: [...requests, request], budget: { ...budget, renewals } };
  });
}

/** The answer to its acquire or claim. */
function addAnswer(model: Model, world: World, at: number, client: Client, add: Add): void {
  const { answered, phase } = client;
  if (answered === undefined || (phase !== "acquiring" && phase !== "claiming")) return;
  add(`${clientNames[at]} learns: ${answered.kind}`, () => {
    const rest = { awaits: 0, answered: undefined };
    if (answered.kind === "leaseQueued") return withClient(world, at, { ...rest, phase: "waiting" });
    const isIts = answered.kind === "leaseGranted" || answered.kind === "leaseDone";
    if (!isIts) return withClient(world, at, { ...rest, ...nothing });
    model.marks.add(`a grant that was ${phase === "claiming" ? "claimed" : "acquired"}`);
    return withClient(world, at, { ...rest, phase: "holding", term: answered.term, base: -1 });
  });
}

const nothing: Partial<Client> = { phase: "idle", term: 0, base: -1, awaits: 0, answered: undefined };

/** It waits, and hears from some leader's store that it was granted. */
function addGrant(model: Model, world: World, at: number, client: Client, add: Add): void {
  if (client.phase !== "waiting") return;
  const { sequence } = client;
  const term = model.stores.lease(world.store, at, sequence)?.term ?? 0;
  if (term === 0) return;
  if (at === 1 && model.bound.isSecondPrompt) {
    addPromptClaim(model, world, at, client, term, add);
    return;
  }
  const believes = model.breaks("believed before it is claimed");
  add(`${clientNames[at]} hears of its grant of term ${term}`, () => {
    const phase = believes ? "holding" : "claiming";
    const claimed = sendCommand(model, world, at, `claim of term ${term}`, {
      kind: "claimLease",
      lease: { name, term },
    });
    return withClient(claimed, at, { phase, term, base: -1, awaits: believes ? 0 : client.nextSequence });
  });
}

/** Claimed, applied, renewed and confirmed at one moment. */
function addPromptClaim(
  model: Model,
  world: World,
  at: number,
  client: Client,
  term: number,
  add: Add,
): void {
  const { leader, now } = world;
  if (!leader.isSettled || world.pending.length > 0 || leader.accounts[at]!.expiring) return;
  add(`${clientNames[at]} claims term ${term} and is confirmed`, () => {
    const sent = sendCommand(model, world, at, `claim of term ${term}`, {
      kind: "claimLease",
      lease: { name, term },
    });
    const command = sent.clients[at]!.outbox.at(-1)!;
    const emptied = withClient(sent, at, { outbox: client.outbox, awaits: client.nextSequence });
    const applied = applyNext(model, emptied, { command, term: leader.term });
    if (applied.clients[at]!.answered?.kind !== "leaseDone") return withClient(applied, at, nothing);
    model.marks.add("a grant that was claimed");
    const kept = { ...applied, leader: heard(model, applied.leader, at, now) };
    const told = confirmed(model, kept, applied.store, at, now);
    const isNamed = model.stores.lease(applied.store, at, client.sequence)?.ending === "none";
    const answers = told.answers.filter((one) => one.client !== at);
    const base = isNamed ? model.holders[at]!.renewed(-1, now, now) : -1;
    return withClient({ ...told, answers }, at, {
      phase: "holding",
      term,
      base,
      awaits: 0,
      answered: undefined,
    });
  });
}

function addOwnActs(model: Model, world: World, at: number, client: Client, add: Add): void {
  const { budget } = world;
  if (client.phase === "idle" && budget.acquires > 0) {
    add(`${clientNames[at]} acquires`, () => {
      const acquiring = sendCommand(model, world, at, "acquire", acquireBy(at));
      const spent = { ...acquiring, budget: { ...budget, acquires: budget.acquires - 1 } };
      return withClient(spent, at, {
        phase: "acquiring",
        sequence: client.nextSequence,
        awaits: client.nextSequence,
      });
    });
  }
  // Also what is lost is released: `giveUp`.
  if (client.phase === "holding" && budget.releases > 0) {
    const { term } = client;
    add(`${clientNames[at]} releases`, () => {
      const released = sendCommand(model, world, at, `release of term ${term}`, {
        kind: "releaseLease",
        lease: { name, term },
      });
      const spent = { ...released, budget: { ...budget, releases: budget.releases - 1 } };
      return model.breaks("believed after its release") ? spent : withClient(spent, at, nothing);
    });
  }
}

function sendCommand(model: Model, world: World, at: number, label: string, command: Command): World {
  const { nextSequence, outbox } = world.clients[at]!;
  const id = model.stores.command(`${clientNames[at]}'s ${label}`, command, at, nextSequence);
  return withClient(world, at, { outbox: [...outbox, id], nextSequence: nextSequence + 1 });
}

/** Answers stay on the network, so one may come late, twice, or never. */
function addDelivery(model: Model, world: World, answer: Flight, add: Add): void {
  const { client: at, sent, term } = answer;
  const client = world.clients[at]!;
  if (client.phase !== "holding" || client.term !== term) return;
  const base = model.holders[at]!.renewed(client.base, sent, world.now);
  if (base === client.base) return;
  add(`${clientNames[at]} learns that its keep-alive of ${sent} is confirmed`, () => {
    return withClient(world, at, base === -2 ? nothing : { base });
  });
}
