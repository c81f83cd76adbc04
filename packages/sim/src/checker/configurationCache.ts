/**
 * The configurations (which operations are placed, and the state that they led to) that a search has seen:
 * those that failed, and those that it stands in. Lowe's improvement of the Wing–Gong search: no
 * configuration is searched twice.
 *
 * Exact: whole keys are compared, the hash only finds them. A collision that counted as "seen" would prune
 * the one good order of a history. Open addressing over one arena of 32-bit words, since millions of objects
 * would not fit.
 */
import type { MemoryBudget } from "./memoryBudget.ts";

const bytesPerWord = 4;
const firstSlots = 64;
const firstWords = 256;

export class ConfigurationCache {
  private readonly budget: MemoryBudget;
  /** Where a key starts in the arena, plus 1; 0 is a free slot. */
  private slots: Int32Array;
  private arena: Int32Array;
  private used = 0;
  private entries = 0;

  constructor(budget: MemoryBudget) {
    this.budget = budget;
    this.slots = new Int32Array(firstSlots);
    this.arena = new Int32Array(firstWords);
  }

  /**
   * `key[0]` is the key's hash, and `length` follows from its first words. `full`: over budget, not
   * remembered.
   */
  add(key: Int32Array, length: number): "new" | "seen" | "full" {
    const hash = key[0] as number;
    let slot = hash & (this.slots.length - 1);
    for (let start = this.slots[slot]; start !== 0; start = this.slots[slot]) {
      if (this.isAt((start as number) - 1, key, length)) return "seen";
      slot = (slot + 1) & (this.slots.length - 1);
    }
    if (this.used + length > this.arena.length && !this.growArena(length)) return "full";
    if (this.entries * 5 >= this.slots.length * 3) {
      if (!this.growSlots()) return "full";
      slot = this.freeSlot(hash);
    }
    for (let word = 0; word < length; word++) this.arena[this.used + word] = key[word] as number;
    this.slots[slot] = this.used + 1;
    this.used += length;
    this.entries += 1;
    return "new";
  }

  /** Forgets all, and gives its memory back. */
  release(): void {
    const first = firstSlots + firstWords;
    this.budget.give((this.slots.length + this.arena.length - first) * bytesPerWord);
    this.slots = new Int32Array(firstSlots);
    this.arena = new Int32Array(firstWords);
    this.used = 0;
    this.entries = 0;
  }

  private isAt(start: number, key: Int32Array, length: number): boolean {
    const { arena } = this;
    for (let word = 0; word < length; word++) if (arena[start + word] !== key[word]) return false;
    return true;
  }

  private freeSlot(hash: number): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  private growArena(needed: number): boolean {
    const size = Math.max(this.arena.length * 2, this.arena.length + needed);
    if (!this.budget.take((size - this.arena.length) * bytesPerWord)) return false;
    const arena = new Int32Array(size);
    arena.set(this.arena);
    this.arena = arena;
    return true;
  }

  private growSlots(): boolean {
    if (!this.budget.take(this.slots.length * bytesPerWord)) return false;
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    for (const start of old) {
      if (start !== 0) this.slots[this.freeSlot(this.arena[start - 1] as number)] = start;
    }
    return true;
  }
}
