/** A shared cache that may vanish at any moment: a miss, an error and a time-out all answer undefined, and nothing ever throws. */
export interface JsonCache {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown, ttlMs: number): Promise<void>;
}
