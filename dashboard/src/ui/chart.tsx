import 'uplot/dist/uPlot.min.css';
import { Table, Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import uPlot from 'uplot';
import {
  DAY_SECONDS,
  indexAfterKey,
  timeLabels,
  timeRange,
  valueLabels,
  valueRange,
  type ChartKind,
  type Range,
} from './chart-scales.ts';

const HEIGHT_PX = 260;
const FONT_PX = 12;
const TICK_PX = 6;
const GAP_PX = 6;
const TIME_AXIS_PX = 34;
/** Between two labels of the time axis, such as `Nov 2026` and `11:59:59 PM`, with room. */
const DAY_LABEL_PX = 64;
const TIME_LABEL_PX = 90;

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
  /** `steps`: a value holds until the next one, and the last one until the end of the range. */
  readonly kind: ChartKind;
  /** In seconds, where the chart begins and ends. Without: at the first and last row. */
  readonly range?: Range;
  /** Where the days of the rows begin. Without: in the reader's zone. */
  readonly timeZone?: 'UTC';
  readonly formatAt: (at: string) => string;
  readonly formatValue: (value: number) => string;
  /** Bars are always drawn from zero on; lines are where this is set. */
  readonly fromZero?: boolean;
  /** Beside the value axis. Without: as the values. */
  readonly formatTick?: (value: number) => string;
}

/**
 * A chart over time. Below it stands what the pointer, the finger or the arrow keys point at; the latest
 * values where that is nothing. All values need a table beside it.
 */
export function TimeChart<Row>(props: TimeChartProps<Row>) {
  const { label, rows } = props;
  const { ref, width } = useElementSize<HTMLDivElement>();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [pointed, setPointed] = useState<number>();
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (!place.current || width === 0) return undefined;
    setPointed(undefined);
    chart.current = draw(place.current, width, props, setPointed);
    return () => chart.current?.destroy();
  }, [rows, width, scheme]);
  const pointByKey = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, pointed, rows.length);
    if (next === null || !chart.current) return;
    event.preventDefault();
    pointAt(chart.current, next);
    // Two values may stand on one pixel: the cursor alone does not say which of them is meant.
    setPointed(next);
  };
  return (
    <div>
      <div
        ref={ref}
        className="chart"
        role="img"
        aria-label={label}
        tabIndex={0}
        onKeyDown={pointByKey}
        onBlur={() => chart.current && pointAt(chart.current, undefined)}
      >
        <div ref={place} />
      </div>
      <Legend {...props} pointed={pointed} />
    </div>
  );
}

const OUTSIDE = { left: -10, top: -10 };

function pointAt(chart: uPlot, index: number | undefined): void {
  const time = index === undefined ? undefined : chart.data[0][index];
  chart.setCursor(time === undefined ? OUTSIDE : { left: chart.valToPos(time, 'x'), top: 0 });
}

/** As high with the values of one day as with those of another, so nothing below it moves. */
function Legend<Row>({
  rows,
  at,
  lines,
  formatAt,
  formatValue,
  kind,
  range,
  pointed,
}: TimeChartProps<Row> & { readonly pointed: number | undefined }) {
  const row = pointed === undefined ? rows.at(-1) : (rows[pointed] ?? rows.at(-1));
  const holdsOn = kind === 'steps' && range !== undefined;
  return (
    <div className="chart-legend" role="status">
      {row !== undefined && (
        <>
          <Text component="span" size="sm" c="dimmed">
            {pointed !== undefined && pointed < rows.length
              ? formatAt(at(row))
              : holdsOn
                ? 'Now'
                : `Latest: ${formatAt(at(row))}`}
          </Text>
          {lines.map(({ name, color, of }) => (
            <Text component="span" size="sm" key={name} className="chart-value" data-color={color}>
              {name} <b className="amount">{formatValue(of(row))}</b>
            </Text>
          ))}
        </>
      )}
    </div>
  );
}

function draw<Row>(
  place: HTMLElement,
  width: number,
  props: TimeChartProps<Row>,
  onPoint: (index: number | undefined) => void,
): uPlot {
  const { rows, at, lines, kind, timeZone, range } = props;
  const style = getComputedStyle(place);
  const times = rows.map((row) => Date.parse(at(row)) / 1_000);
  const values = lines.map(({ of }) => rows.map(of));
  const x = range ?? timeRange(times, kind);
  const y = valueRange(values.flat(), kind === 'bars' || props.fromZero === true);
  // A value that still holds is drawn up to the end.
  const holds = kind === 'steps' && range !== undefined && rows.length > 0 && (times.at(-1) ?? 0) < range[1];
  const chart = new uPlot(
    {
      width,
      height: HEIGHT_PX,
      tzDate: (seconds) => {
        const date = new Date(seconds * 1_000);
        return timeZone ? uPlot.tzDate(date, timeZone) : date;
      },
      scales: { x: { range: () => [...x] }, y: { range: () => [...y] } },
      axes: axesOf(props, style, { x: range ?? [times[0] ?? 0, times.at(-1) ?? 0], values: values.flat() }),
      series: seriesOf(props, style),
      legend: { show: false },
      hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
      // Nothing is chosen by dragging: the range has its own control.
      cursor: { drag: { x: false, y: false } },
    },
    holds ? [[...times, range[1]], ...values.map((one) => [...one, one.at(-1) ?? null])] : [times, ...values],
    place,
  );
  // uPlot follows a mouse alone; a finger that is drawn sideways points too.
  chart.over.addEventListener('pointermove', ({ pointerType, clientX }) => {
    if (pointerType === 'mouse') return;
    chart.setCursor({ left: clientX - chart.over.getBoundingClientRect().left, top: 0 });
  });
  return chart;
}

const colorOf = (style: CSSStyleDeclaration, name: string): string =>
  style.getPropertyValue(`--mantine-color-${name}`);

function axesOf(
  {
    timeZone,
    formatValue,
    formatTick = formatValue,
  }: Pick<TimeChartProps<unknown>, 'timeZone' | 'formatValue' | 'formatTick'>,
  style: CSSStyleDeclaration,
  { x: range, values }: { readonly x: Range; readonly values: readonly number[] },
): uPlot.Axis[] {
  const font = `${String(FONT_PX)}px ${style.fontFamily}`;
  const line = { stroke: colorOf(style, 'default-border'), width: 1 };
  const axis = {
    ...{ font, stroke: colorOf(style, 'dimmed'), gap: GAP_PX },
    ...{ grid: line, ticks: { ...line, size: TICK_PX } },
  };
  return [
    {
      ...axis,
      size: TIME_AXIS_PX,
      // No labels between two days.
      ...(range[1] - range[0] >= 2 * DAY_SECONDS
        ? { space: DAY_LABEL_PX, incrs: DAY_STEPS }
        : { space: TIME_LABEL_PX }),
      values: (_chart, splits, _axis, _space, step) => timeLabels(splits, { step, range, timeZone }),
    },
    {
      ...axis,
      values: (_chart, splits) => valueLabels(splits, values, formatTick),
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
  { rows, lines, kind, range }: TimeChartProps<Row>,
  style: CSSStyleDeclaration,
): uPlot.Series[] {
  return [
    {},
    ...lines.map(({ name, color }) => {
      const stroke = colorOf(style, `${color}-text`);
      return {
        ...{ label: name, stroke },
        ...KINDS[kind](stroke),
        // One value alone would be no line.
        ...(rows.length === 1 && kind === 'steps' && !range ? { points: { show: true } } : {}),
      };
    }),
  ];
}

const bars = uPlot.paths.bars?.({ size: [0.7, 64] });
const steps = uPlot.paths.stepped?.({ align: 1 });

const KINDS = {
  bars: (color: string) => ({ fill: color, width: 0, points: { show: false }, ...(bars && { paths: bars }) }),
  steps: () => ({ width: 2, points: { show: false }, ...(steps && { paths: steps }) }),
} satisfies Record<ChartKind, (color: string) => uPlot.Series>;

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
