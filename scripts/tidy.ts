// The rules that no other tool looks at, over all files that git tracks: line ends, machine paths, lock file, comments that open a file, TODO numbers,
// number of npm scripts, links of the documents, names of files. Prints the ten largest files and functions each time, so that growth is seen before it hurts.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

interface TextFile {
  readonly path: string;
  readonly text: string;
}

interface Rule {
  readonly about: string;
  readonly paths: RegExp;
  /** What is wrong with the file, nothing when it is tidy. */
  readonly faults: (file: TextFile) => readonly string[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const code = /\.(ts|mjs|cjs|js)$/;
const scriptsMax = 12;
const openingLinesMax = 15;

const rules: readonly Rule[] = [
  {
    about: 'lines end with LF',
    paths: /./,
    faults: ({ text }) => (text.includes('\r\n') ? ['has CRLF line ends'] : []),
  },
  {
    about: 'nothing knows the machine it was written on',
    paths: /./,
    faults: ({ text }) => linesWith(text, /(?<![\w.}])\/(work|home|Users|root)\/\w/, 'a machine path'),
  },
  {
    about: 'the lock file carries no download addresses',
    paths: /(^|\/)package-lock\.json$/,
    faults: ({ text }) => linesWith(text, /"resolved":/, 'a download address (see .npmrc)').slice(0, 1),
  },
  {
    about: 'a source opens by saying what it is, what it keeps, and where it is explained',
    paths: /^(src|scripts|bin)\/.*\.(ts|mjs)$/,
    faults: openingFaults,
  },
  {
    about: 'an exported function or class states its contract: order, ownership, units, errors',
    paths: /^src\/.*\.ts$/,
    faults: undocumentedExports,
  },
  {
    about: 'a TODO names its issue',
    paths: code,
    faults: ({ text }) => linesWith(text, /(\/\/|\*)\s*\bTODO\b(?!\(#\d+\))/, 'a TODO without its issue: TODO(#n)'),
  },
  {
    about: 'file names are kebab-case',
    paths: /^(src|test|bench|scripts)\/.*\.ts$/,
    faults: ({ path }) => (/^[a-z0-9/.-]+$/.test(path) ? [] : ['is not kebab-case']),
  },
  {
    about: 'npm scripts stay few',
    paths: /^package\.json$/,
    faults: ({ text }) => {
      const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, string> };
      const count = Object.keys(scripts).length;
      return count > scriptsMax ? [`${count} scripts, at most ${scriptsMax}`] : [];
    },
  },
  { about: 'links inside the repository lead somewhere', paths: /\.md$/, faults: deadLinks },
];

function linesWith(text: string, pattern: RegExp, what: string): string[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`line ${index + 1}: ${what}`] : []));
}

function openingFaults({ text }: TextFile): string[] {
  const lines = text.split('\n');
  const first = lines[0]?.startsWith('#!') === true ? 1 : 0;
  let end = first;
  while (lines[end]?.startsWith('//') === true) end++;
  if (end === first) return ['does not open with a comment'];
  return end - first > openingLinesMax ? [`opens with ${end - first} lines of comment, at most ${openingLinesMax}`] : [];
}

function undocumentedExports({ path, text }: TextFile): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const seen = new Set<string>();
  return source.statements.flatMap((statement) => {
    if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) return [];
    const name = statement.name?.getText() ?? '';
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    // Of an overloaded function the first signature carries the comment.
    if (!isExported || seen.has(name)) return [];
    seen.add(name);
    return ts.getJSDocCommentsAndTags(statement).length > 0 ? [] : [`${name} has no doc comment`];
  });
}

function deadLinks({ path, text }: TextFile): string[] {
  return [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].flatMap(([, target = '']) =>
    existsSync(join(root, dirname(path), target)) ? [] : [`links to ${target}, which is not there`],
  );
}

function trackedFiles(): TextFile[] {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  return listed
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .map((path) => ({ path, bytes: readFileSync(join(root, path)) }))
    .filter(({ bytes }) => !bytes.includes(0))
    .map(({ path, bytes }) => ({ path, text: bytes.toString('utf8') }));
}

/** Lines of every function with a body, methods and arrows too. */
function functionSizes({ path, text }: TextFile): { name: string; lines: number }[] {
  const sizes: { name: string; lines: number }[] = [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const start = lineOf(node.getStart());
      sizes.push({ name: `${path}:${start + 1} ${nameOf(node)}`, lines: lineOf(node.end) - start + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sizes;
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name !== undefined) return node.name.getText();
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : '(arrow)';
}

function printLargest(title: string, items: readonly { name: string; lines: number }[]): void {
  console.log(title);
  const largest = [...items].sort((a, b) => b.lines - a.lines).slice(0, 10);
  for (const { name, lines } of largest) console.log(`${String(lines).padStart(6)}  ${name}`);
}

const files = trackedFiles();
const sources = files.filter(({ path }) => path.endsWith('.ts'));
printLargest(
  'largest files',
  sources.map(({ path, text }) => ({ name: path, lines: text.split('\n').length - 1 })),
);
printLargest('largest functions of the product', sources.filter(({ path }) => path.startsWith('src/')).flatMap(functionSizes));

const faults = rules.flatMap((rule) =>
  files.filter(({ path }) => rule.paths.test(path)).flatMap((file) => rule.faults(file).map((fault) => `${file.path}: ${fault} (${rule.about})`)),
);
for (const fault of faults) console.error(fault);
console.log(`tidy: ${files.length} files, ${faults.length} faults (below ${relative(process.cwd(), root) || '.'})`);
process.exitCode = faults.length > 0 ? 1 : 0;
