/**
 * Papers as PDF, A4. Guarantee: the same paper has the same bytes, and no text makes it fail: what the font
 * lacks is shown as a box.
 */
import { readFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import type { Party } from '../invoice-rules.ts';

interface Column {
  readonly title: string;
  /** Parts of the width; of all columns together 100. */
  readonly width: number;
  readonly isAmount?: true;
}

export interface PaperTable {
  readonly title?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Below a line, in bold. */
  readonly sums?: readonly (readonly string[])[];
}

export interface Paper {
  readonly title: string;
  /** What it was made from is as of then: the date that the file carries. */
  readonly asOf: Date;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly seller: Party | undefined;
  /** undefined: a paper for ourselves. */
  readonly buyer: Party | undefined;
  readonly tables: readonly PaperTable[];
  readonly notes: readonly string[];
}

type Document = PDFKit.PDFDocument;

const MARGIN = 48;
const WIDTH = 595.28 - 2 * MARGIN;
const BOTTOM = 841.89 - MARGIN - 20;
const SIZE = 8.5;
const GAP = 6;
/** Rows between two turns of the event loop: some 10 ms, which other requests can wait. */
const ROWS_A_TURN = 5;

type Fonts = Readonly<Record<'plain' | 'bold', Buffer>>;
let fonts: Promise<Fonts> | undefined;

/** DejaVu has the naira sign, which the fonts that every reader has do not. Read on first use: 1.4 MB. */
async function readFonts(): Promise<Fonts> {
  const read = (name: string) => readFile(new URL(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)));
  const [plain, bold] = await Promise.all([read('DejaVuSans'), read('DejaVuSans-Bold')]);
  return { plain, bold };
}

export async function renderPaper(paper: Paper): Promise<Buffer> {
  fonts ??= readFonts();
  const [{ default: PDFDocument }, { plain, bold }] = await Promise.all([import('pdfkit'), fonts]);
  const doc = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: 0 },
    bufferPages: true,
    lang: 'en',
    displayTitle: true,
    info: { Title: clean(paper.title), Creator: 'Simway', Producer: 'Simway', CreationDate: paper.asOf },
  });
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    doc.on('data', (chunk: Buffer) => chunks.push(chunk));
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
  });
  doc.registerFont('plain', plain).registerFont('bold', bold);
  drawHead(doc, paper);
  for (const table of paper.tables) await drawTable(doc, table);
  drawNotes(doc, paper.notes);
  drawPageNumbers(doc, paper.title);
  doc.end();
  return ended;
}

/** Control characters have no place on paper. */
const clean = (text: string): string => text.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ');

function drawHead(doc: Document, { title, facts, seller, buyer }: Paper): void {
  doc.font('bold').fontSize(17).text(clean(title), MARGIN, MARGIN, { width: WIDTH });
  doc.moveDown(0.5);
  const top = doc.y;
  const half = WIDTH / 2 - 10;
  const left = drawParty(doc, 'From', seller, { x: MARGIN, y: top, width: half });
  const right = buyer ? drawParty(doc, 'To', buyer, { x: MARGIN + half + 20, y: top, width: half }) : top;
  doc.y = Math.max(left, right) + GAP;
  for (const [name, value] of facts) {
    const y = doc.y;
    doc.font('bold').fontSize(SIZE).text(clean(name), MARGIN, y, { width: 110 });
    const under = doc.y;
    doc.font('plain').text(clean(value), MARGIN + 115, y, { width: WIDTH - 115 });
    doc.y = Math.max(under, doc.y) + 2;
  }
  doc.y += GAP;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function drawParty(doc: Document, word: string, party: Party | undefined, { x, y, width }: Place): number {
  if (!party) return y;
  doc.font('bold').fontSize(SIZE).text(word, x, y, { width });
  const { legalName, addressLines, country, taxNumber } = party;
  const tax = taxNumber === null ? [] : [`Tax number: ${taxNumber}`];
  for (const line of [legalName, ...addressLines, ...(country === null ? [] : [country]), ...tax])
    doc.font('plain').text(clean(line), x, doc.y, { width });
  return doc.y;
}

async function drawTable(doc: Document, { title, columns, rows, sums = [] }: PaperTable): Promise<void> {
  if (doc.y > BOTTOM - 60) newPage(doc);
  if (title !== undefined) {
    doc
      .font('bold')
      .fontSize(10.5)
      .text(clean(title), MARGIN, doc.y + GAP, { width: WIDTH });
    doc.y += 2;
  }
  drawRow(
    doc,
    columns,
    columns.map((column) => column.title),
    'bold',
  );
  drawLine(doc);
  for (const [index, row] of rows.entries()) {
    drawRow(doc, columns, row, 'plain', true);
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turn();
  }
  if (sums.length > 0) drawLine(doc);
  for (const row of sums) drawRow(doc, columns, row, 'bold', true);
  doc.y += GAP;
}

function drawRow(
  doc: Document,
  columns: readonly Column[],
  row: readonly string[],
  font: 'plain' | 'bold',
  repeatsHead = false,
): void {
  doc.font(font).fontSize(SIZE);
  const cells = columns.map(({ width, isAmount }, index) => {
    const options = {
      width: (WIDTH * width) / 100 - 6,
      align: isAmount ? ('right' as const) : ('left' as const),
    };
    return { text: clean(row[index] ?? ''), options };
  });
  const lineHeight = doc.currentLineHeight(true);
  const heightOf = ({ text, options }: (typeof cells)[number]): number =>
    doc.widthOfString(text) <= options.width ? lineHeight : doc.heightOfString(text, options);
  const height = Math.max(...cells.map(heightOf));
  if (doc.y + height > BOTTOM) {
    newPage(doc);
    if (repeatsHead) {
      drawRow(
        doc,
        columns,
        columns.map((column) => column.title),
        'bold',
      );
      drawLine(doc);
      doc.font(font).fontSize(SIZE);
    }
  }
  const y = doc.y + 1.5;
  let x = MARGIN;
  for (const [index, { text, options }] of cells.entries()) {
    doc.text(text, x + 3, y, options);
    x += (WIDTH * (columns[index]?.width ?? 0)) / 100;
  }
  doc.y = y + height + 1.5;
}

function drawLine(doc: Document): void {
  doc
    .moveTo(MARGIN, doc.y)
    .lineTo(MARGIN + WIDTH, doc.y)
    .lineWidth(0.5)
    .stroke();
}

function newPage(doc: Document): void {
  doc.addPage();
  doc.y = MARGIN;
}

function drawNotes(doc: Document, notes: readonly string[]): void {
  doc.font('plain').fontSize(SIZE);
  for (const note of notes) {
    if (doc.y + doc.heightOfString(clean(note), { width: WIDTH }) > BOTTOM) newPage(doc);
    doc.text(clean(note), MARGIN, doc.y, { width: WIDTH });
  }
}

function drawPageNumbers(doc: Document, title: string): void {
  const { start, count } = doc.bufferedPageRange();
  for (let page = start; page < start + count; page += 1) {
    doc.switchToPage(page);
    const words = `${title} · page ${page - start + 1} of ${count}`;
    doc.font('plain').fontSize(7);
    doc.text(clean(words), MARGIN, BOTTOM + 12, { width: WIDTH, align: 'center', lineBreak: false });
  }
}
