// Writes generated/: the types of every documented route, from the documents that `node src/main.ts openapi`
// writes, the values of each list in a schema or a query, and the words for its members where it has some.
// They are not committed, so they are never behind the routes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(import.meta.dirname, 'generated');

mkdirSync(FOLDER, { recursive: true });
for (const name of ['api', 'ops']) {
  const file = join(FOLDER, `${name}.json`);
  execFileSync(process.execPath, ['src/main.ts', 'openapi', name, file], { cwd: ROOT });
  const document = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(join(FOLDER, `${name}.ts`), astToString(await openapiTS(document)));
  writeFileSync(join(FOLDER, `${name}-lists.ts`), listsOf(document));
}

/** Such as `memberRole`, the field `role` of the schema `Member`, and `listEsimsStatus`, of a query. */
function listsOf({ components, paths }) {
  const lists = new Map();
  const visit = (name, { enum: values, items, properties = {}, ...schema }) => {
    const words = values?.filter((value) => typeof value === 'string') ?? [];
    if (words.length > 1) lists.set(name, words);
    if (schema['x-words']) lists.set(`${name}Words`, schema['x-words']);
    if (items) visit(name, items);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
      visit(name, one);
    for (const [field, value] of Object.entries(properties)) visit(name + capital(field), value);
  };
  for (const [name, schema] of Object.entries(components.schemas))
    visit(name[0].toLowerCase() + name.slice(1), schema);
  for (const { operationId, parameters = [] } of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const { name, schema } of parameters) visit(operationId + capital(name), schema);
  return Array.from(
    lists,
    ([name, values]) => `export const ${name} = ${JSON.stringify(values)} as const;\n`,
  ).join('');
}

function capital(word) {
  return word[0].toUpperCase() + word.slice(1);
}
