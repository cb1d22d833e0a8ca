import { afterAll } from 'vitest';

/** A world of a whole test file: opened at its top, closed at its end, the last one first. */
export async function forFile<World extends { close(): unknown }>(
  opening: World | Promise<World>,
): Promise<World> {
  const world = await opening;
  afterAll(async () => {
    await world.close();
  });
  return world;
}
