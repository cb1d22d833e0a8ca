// Records the API's document of the release in package.json as released.json, which later code must not
// break: `npm run record:openapi`. Refuses while a breaking change stands in no decision, so it hides none.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { breakingChanges, currentDocument, RELEASED, undecided, type Document } from './breaking.ts';

const current = currentDocument();
if (existsSync(RELEASED)) {
  const released = JSON.parse(readFileSync(RELEASED, 'utf8')) as Document;
  const left = undecided(await breakingChanges(released, current));
  if (left.length > 0) throw new Error(`These changes stand in no decision:\n${left.join('\n')}`);
}
// A line for each path and schema, so that a diff can be read.
const lines = (part: object): string =>
  Object.entries(part)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',\n');
const { paths, components, ...others } = current;
const { schemas, ...parts } = components;
writeFileSync(
  RELEASED,
  `{${lines(others)},\n"components":{${lines(parts)},\n"schemas":{\n${lines(schemas)}}},\n"paths":{\n${lines(paths)}}}\n`,
);
