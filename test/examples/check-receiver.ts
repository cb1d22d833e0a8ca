// `node test/examples/check-receiver.ts <language>`: for continuous integration, where that language's tools
// are installed. Exit code 1: not right.
import { judgeReceiver, LANGUAGES } from '../support/people/receivers.ts';

const language = LANGUAGES.find((one) => one === process.argv[2]);
if (!language) throw new Error(`takes one of ${LANGUAGES.join(', ')}`);
const problems = await judgeReceiver(language);
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${language}: takes what is genuine, refuses what is not`);
process.exitCode = problems.length === 0 ? 0 : 1;
