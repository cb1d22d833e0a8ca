// Lint guards what the compiler cannot: forgotten promises, sizes, floating point near money.
// .dependency-cruiser.js says who may import whom.
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      '.data',
      'coverage',
      'dashboard/dist',
      'packages/client/generated',
      'packages/sdk/src/generated',
      'packages/sdk/dist',
      'packages/docs-site/dist',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      // Prettier keeps code to 110 columns, and leaves comments alone.
      'max-len': ['error', { code: 10_000, comments: 110, ignoreUrls: true }],
      // They take a third of the rules' time. We have no enums, and no two classes of one shape.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
    },
  },
  {
    // Money is integers: parsing or rounding through floating point is refused where money lives (promise
    // M9).
    files: [
      'src/{domain,accounts,catalogue,ledger,webhooks,esims,payments,purchases,operations,reconciliation}/**',
      'activities/**',
      'workflows/**',
    ],
    ignores: ['src/*/http/**'],
    rules: {
      'no-restricted-globals': ['error', 'parseFloat'],
      'no-restricted-properties': [
        'error',
        { object: 'Number', property: 'parseFloat' },
        { object: 'Math', property: 'round' },
        { object: 'Math', property: 'floor' },
        { object: 'Math', property: 'ceil' },
        { object: 'Math', property: 'random' },
      ],
    },
  },
  {
    files: ['test/**', 'bench/**'],
    rules: {
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // A page is markup: it is long where the page is.
    files: ['dashboard/**/*.tsx'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@tanstack/react-router',
              importNames: ['Navigate'],
              message: 'Take GoTo: it navigates once.',
            },
            {
              name: '@mantine/core',
              importNames: ['NumberInput'],
              message: 'Take NumberField: a typed comma is not a decimal sign.',
            },
          ],
        },
      ],
      'max-lines-per-function': ['error', { max: 200, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      // TanStack Router's redirects and notFound are thrown as they are.
      '@typescript-eslint/only-throw-error': 'off',
    },
  },
  {
    files: ['dashboard/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name=/^replace/][arguments.0.regex.pattern=/^\\[[-_]+\\]$/]',
          message: 'No text is made from a code: give it a word in ui/words.ts.',
        },
      ],
    },
  },
  { files: ['docs/examples/**', 'examples/**'], rules: { 'no-console': 'off' } },
  { files: ['**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
);
