import 'uplot/dist/uPlot.min.css';
import { Table, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

const HEIGHT_PX = 260;
const FONT_PX = 12;
const TICK_PX = 6;
const GAP_PX = 6;
const TIME_AXIS_PX = 34;
/** Between two labels of the time axis, such as `Nov 2026` and `11:59:59 PM`, with room. */
const DAY_LABEL_PX = 64;
const TIME_LABEL_PX = 90;
const DAY_SECONDS = 86_400;
const MONTH_SECONDS = 28 * DAY_SECONDS;

/** Whole days, then months and years as uPlot counts them. */
const DAY_STEPS = [1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 120, 180, 365].map((days) => days * DAY_SECONDS);

interface Line<Row> {
  readonly name: string;
  readonly color: 'blue' | 'teal';
  readonly of: (row: Row) => number;
}

interface TimeChartProps<Row> {
  readonly label: string;
  /** Oldest first. The chart is drawn again when another array comes. */
  readonly rows: readonly Row[];
  readonly at: (row: Row) => string;
  readonly lines: readonly Line<Row>[];
  /** `steps`: a value holds until the next one. */
  readonly kind: 'bars' | 'steps';
  /** In seconds, where the chart begins and ends. Without: at the first and last row. */
  readonly range?: readonly [number, number];
  /** Where the days of the rows begin. Without: in the reader's zone. */
  readonly timeZone?: 'UTC';
  readonly formatAt: (at: string) => string;
  readonly formatValue: (value: number) => string;
}

/** A chart over time. Its values need a table beside it: a screen reader gets only the label. */
export function TimeChart<Row>(props: TimeChartProps<Row>) {
  const { label, rows } = props;
  const { ref, width } = useElementSize<HTMLDivElement>();
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (!place.current || width === 0) return undefined;
    const chart = draw(place.current, width, props);
    return () => chart.destroy();
  }, [rows, width, scheme]);
  return (
    <div ref={ref} className="chart" role="img" aria-label={label}>
      <div ref={place} />
    </div>
  );
}

function draw<Row>(place: HTMLElement, width: number, props: TimeChartProps<Row>): uPlot {
  const { rows, at, lines, kind, timeZone, range } = props;
  const style = getComputedStyle(place);
  const times = rows.map((row) => Date.parse(at(row)) / 1_000);
  return new uPlot(
    {
      width,
      height: HEIGHT_PX,
      tzDate: (seconds) => {
        const date = new Date(seconds * 1_000);
        return timeZone ? uPlot.tzDate(date, timeZone) : date;
      },
      scales: {
        x: { range: () => (range ? [range[0], range[1]] : timeRange(kind, times)) },
        y: kind === 'steps' ? {} : { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
      },
      axes: axesOf(props, style, times),
      series: seriesOf(props, style),
      // Nothing is chosen by dragging: the range has its own control.
      cursor: { drag: { x: false, y: false } },
    },
    [times, ...lines.map(({ of }) => rows.map(of))],
    place,
  );
}

const colorOf = (style: CSSStyleDeclaration, name: string): string =>
  style.getPropertyValue(`--mantine-color-${name}`);

function axesOf(
  { timeZone, formatValue, range }: Pick<TimeChartProps<unknown>, 'timeZone' | 'formatValue' | 'range'>,
  style: CSSStyleDeclaration,
  times: readonly number[],
): uPlot.Axis[] {
  const font = `${String(FONT_PX)}px ${style.fontFamily}`;
  const line = { stroke: colorOf(style, 'default-border'), width: 1 };
  const axis = {
    ...{ font, stroke: colorOf(style, 'dimmed'), gap: GAP_PX },
    ...{ grid: line, ticks: { ...line, size: TICK_PX } },
  };
  const [start, end] = range ?? [times[0] ?? 0, times.at(-1) ?? 0];
  const span = end - start;
  return [
    {
      ...axis,
      size: TIME_AXIS_PX,
      // No labels between two days.
      ...(span >= 2 * DAY_SECONDS ? { space: DAY_LABEL_PX, incrs: DAY_STEPS } : { space: TIME_LABEL_PX }),
      values: (_chart, splits, _axis, _space, step) => {
        const format = timeFormat(step, timeZone);
        // A label may stand before the first row, where a bar has its room.
        return splits.map((seconds) =>
          seconds < start || seconds > end ? '' : format.format(new Date(seconds * 1_000)),
        );
      },
    },
    {
      ...axis,
      values: (_chart, splits) => splits.map(formatValue),
      // As wide as its longest label.
      size: ({ ctx }, labels) => {
        ctx.font = font;
        // Before the first values there are no labels.
        const texts = (labels as readonly string[] | null) ?? [];
        return TICK_PX + GAP_PX + Math.ceil(Math.max(0, ...texts.map((text) => ctx.measureText(text).width)));
      },
    },
  ];
}

function seriesOf<Row>(
  { rows, at, lines, kind, formatAt, formatValue }: TimeChartProps<Row>,
  style: CSSStyleDeclaration,
): uPlot.Series[] {
  // The legend names the latest values until the reader points at others.
  const latest = rows.at(-1);
  return [
    {
      label: 'When',
      value: (_chart, _value, _series, index) => {
        const row = index === null ? latest : rows[index];
        return row === undefined ? '–' : formatAt(at(row));
      },
    },
    ...lines.map(({ name, color, of }) => {
      const stroke = colorOf(style, `${color}-text`);
      return {
        ...{ label: name, stroke },
        ...KINDS[kind](stroke),
        ...(rows.length === 1 && kind !== 'bars' ? { points: { show: true } } : {}),
        value: (_chart: uPlot, value: number | null) =>
          value !== null ? formatValue(value) : latest === undefined ? '–' : formatValue(of(latest)),
      };
    }),
  ];
}

const bars = uPlot.paths.bars?.({ size: [0.7, 64] });
const steps = uPlot.paths.stepped?.({ align: 1 });

const KINDS = {
  bars: (color: string) => ({ fill: color, width: 0, points: { show: false }, ...(bars && { paths: bars }) }),
  steps: () => ({ width: 2, points: { show: false }, ...(steps && { paths: steps }) }),
} satisfies Record<TimeChartProps<unknown>['kind'], (color: string) => uPlot.Series>;

/** With room for the whole first and last bar; a single value stands in the middle of a day. */
function timeRange(kind: TimeChartProps<unknown>['kind'], times: readonly number[]): [number, number] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const room = kind === 'bars' ? DAY_SECONDS : first === last ? DAY_SECONDS / 2 : 0;
  return [first - room, last + room];
}

function timeFormat(step: number, timeZone: string | undefined): Intl.DateTimeFormat {
  const parts: Intl.DateTimeFormatOptions =
    step >= MONTH_SECONDS
      ? { month: 'short', year: 'numeric' }
      : step >= DAY_SECONDS
        ? { month: 'short', day: 'numeric' }
        : { timeStyle: step >= 60 ? 'short' : 'medium' };
  return new Intl.DateTimeFormat(undefined, { ...parts, timeZone });
}

export function ChartValues({
  label,
  titles,
  rows,
}: {
  readonly label: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <details>
      <summary>Show as a table</summary>
      <Table.ScrollContainer minWidth={0} maxHeight={400}>
        <Table
          aria-label={label}
          data={{ head: [...titles], body: rows.map((cells) => [...cells]) }}
          stickyHeader
        />
      </Table.ScrollContainer>
    </details>
  );
}
