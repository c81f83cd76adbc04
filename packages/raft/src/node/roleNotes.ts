/**
 * What the process's log says of roles. A node that finds no leader, since it is cut off or was removed, asks for votes
 * again at each election timeout for as long as that lasts: of such rounds in one term, the first alone stands there
 * above `debug`, or they would fill a disk.
 */
import type { Role, RoleChange } from "../core/contract.ts";
import type { Logger } from "../ports/index.ts";

export class RoleNotes {
  readonly #logger: Logger;
  /** In which the node has been without a leader. */
  #term: number | undefined;
  /** What was told of it meanwhile. */
  readonly #told = new Set<Role>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  changed({ role, term, leader }: RoleChange): void {
    if (leader !== undefined || term !== this.#term) this.#told.clear();
    this.#term = term;
    const level = this.#told.has(role) ? "debug" : "info";
    if (leader === undefined) this.#told.add(role);
    this.#logger[level]({ role, term, leader }, "The role changed.");
  }
}
