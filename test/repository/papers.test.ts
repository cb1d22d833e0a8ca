// The documents are correct: paths exist, the two commands work, scripts and settings match the code.
// linkinator checks the links.
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pathExists, projectFiles, textOf } from './source-files.ts';

const papers = projectFiles().filter((file) => file.endsWith('.md'));
const manifest = JSON.parse(textOf('package.json')) as {
  readonly version: string;
  readonly license: string;
  readonly scripts: Readonly<Record<string, string>>;
};

interface CodeBlock {
  readonly language: string;
  readonly lines: readonly string[];
}

function codeBlocks(file: string): CodeBlock[] {
  return Array.from(
    textOf(file).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm),
    ([, language = '', text = '']) => ({
      language,
      lines: text.trimEnd().split('\n'),
    }),
  );
}

describe('README.md', () => {
  it('begins with the two commands, each on its own line', () => {
    const [start, test] = codeBlocks('README.md');
    expect(start).toEqual({ language: 'sh', lines: ['npm ci && npm start'] });
    expect(test).toEqual({ language: 'sh', lines: ['npm ci && npm test'] });
  });

  it('links to the ten lines of ARCHITECTURE.md that trace a purchase', () => {
    expect(textOf('README.md')).toContain('(docs/ARCHITECTURE.md#a-purchase)');
    const traced = textOf('docs/ARCHITECTURE.md').match(/^\d+\. .*`(?:src|workflows)\/.*$/gm);
    expect(traced).toHaveLength(10);
  });

  it('shows the tree with every folder', () => {
    const drawn = drawnPaths();
    expect(drawn.filter((path) => !pathExists(path))).toEqual([]);
    const folders = new Set(
      projectFiles().flatMap((file) => {
        const [first = '', second = ''] = file.split('/');
        if (!file.includes('/') || first.startsWith('.')) return [];
        return first === 'src' && file.split('/').length > 2
          ? [`${first}/`, `${first}/${second}/`]
          : [`${first}/`];
      }),
    );
    expect([...folders].filter((folder) => !drawn.includes(folder))).toEqual([]);
  });
});

/** Paths of the drawn tree, built from its indentation. */
function drawnPaths(): string[] {
  const tree = codeBlocks('README.md').find(({ language }) => language === 'text');
  const folders: string[] = [];
  return (tree?.lines ?? []).map((line) => {
    const [, indent = '', name = ''] = /^( *)(\S+)/.exec(line) ?? [];
    const depth = indent.length / 2;
    folders.length = depth;
    folders[depth] = name;
    return folders.join('');
  });
}

describe('every document', () => {
  it('names only paths that exist', () => {
    const named =
      /(?<![\w./-])(?:src|packages|workflows|activities|migrations|test|bench|docs|\.ci)\/[\w./@-]*\w(?![\w*<{])/g;
    const missing = papers.flatMap((file) =>
      Array.from(textOf(file).matchAll(named), ([path]) => path)
        .filter((path) => !pathExists(path) && !pathExists(`${path}.ts`))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('names only scripts of package.json', () => {
    const unknown = papers.flatMap((file) =>
      Array.from(textOf(file).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g))
        .map(([, run, short]) => run ?? short ?? '')
        .filter((script) => !(script in manifest.scripts))
        .map((script) => `${file}: ${script}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the lists of OWASP in SECURITY.md', () => {
  const section = textOf('SECURITY.md').split('\n## Measured against public lists\n')[1] ?? '';
  const rows = section
    .split('\n')
    .filter((line) => /^\| (?:API|V)\d/.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll('|', '').trim()));

  it('have a row for each risk and each chapter', () => {
    const codes = new Set(rows.map(([title = '']) => /^\w+/.exec(title)?.[0]));
    const wanted = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
    expect([...codes]).toEqual([...wanted('API', 10), ...wanted('V', 14)]);
  });

  it('name tests that exist, and what is not met', () => {
    const wrong = rows.filter(([, holds = '', shownBy = '', notMet = '']) => {
      const files = shownBy.split(', ').map((file) => file.replaceAll('`', ''));
      const areTests = files.every((file) => /^test\/.+\.test\.ts$/.test(file) && pathExists(file));
      return holds === '' || notMet === '' || !areTests;
    });
    expect(wrong).toEqual([]);
  });
});

describe('docs/decisions', () => {
  const records = projectFiles().filter((file) => /^docs\/decisions\/\d{4}-/.test(file));

  it('are numbered without a gap and have their three parts', () => {
    expect(records.length).toBeGreaterThan(0);
    records.forEach((file, index) => {
      const number = String(index + 1).padStart(4, '0');
      const headings = Array.from(textOf(file).matchAll(/^#+ (.+)$/gm), ([, heading]) => heading);
      expect(headings, file).toEqual([
        expect.stringMatching(`^${number} `),
        'Context',
        'Decision',
        'Consequences',
      ]);
    });
  });

  it('are in the index under their titles', () => {
    const index = textOf('docs/decisions/README.md').split('\n');
    const missing = records
      .map((file) => {
        const title = /^# \d{4} (.+)$/m.exec(textOf(file))?.[1] ?? '';
        const name = posix.basename(file);
        return `- [${name.slice(0, 4)}](${name}) ${title}`;
      })
      .filter((line) => !index.includes(line));
    expect(missing).toEqual([]);
  });
});

describe('facts stated twice are equal', () => {
  it('settings: src/app/config and docs/SETTINGS.md name the same', () => {
    const variable = /\b(?:SIMWAY_[A-Z_]+|DATABASE_URL|REDIS_URL|TEMPORAL_[A-Z_]+|OTEL_[A-Z_]+)\b/g;
    const files = projectFiles().filter((file) => /^src\/app\/config\/\w+\.ts$/.test(file));
    expect(files.length).toBeGreaterThan(1);
    const read = new Set(files.map(textOf).join('\n').match(variable));
    const rows = textOf('docs/SETTINGS.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const described = new Set(rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1]));
    expect([...described].toSorted()).toEqual([...read].toSorted());
  });

  it('secrets: docs/SETTINGS.md, docker-compose.yml and the keys of SECURITY.md, which explains how each is changed', () => {
    const text = `${textOf('docs/SETTINGS.md')}\n${textOf('docker-compose.yml')}`;
    const names = text.match(/\b[A-Z][A-Z_]+_(?:PASSWORD|SECRET|KEYS?|CODE)\b/g) ?? [];
    const secrets = new Set(names.filter((name) => !name.startsWith('SIMWAY_TEST_')));
    expect(secrets.size).toBeGreaterThan(10);
    const keys = textOf('SECURITY.md').split('\n## Keys and secrets\n')[1]?.split('\n## ')[0] ?? '';
    expect([...secrets].filter((name) => !keys.includes(`\`${name}\``))).toEqual([]);
  });

  it('the version: package.json and CHANGELOG.md', () => {
    expect(textOf('CHANGELOG.md')).toContain(`\n## [${manifest.version}]`);
  });

  it('the licence: package.json and LICENSE', () => {
    expect(manifest.license).toBe('Apache-2.0');
    expect(textOf('LICENSE')).toContain(
      'Apache License\n                           Version 2.0, January 2004',
    );
    expect(textOf('LICENSE')).toMatch(/Copyright \d{4} Simway contributors/);
  });
});
