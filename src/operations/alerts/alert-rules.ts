/** Alerts for operators: when one opens, is told again and closes, and its words. Pure. */
import {
  SEVERITIES,
  severityOf,
  type AlertKind,
  type AlertMessage,
  type Severity,
} from '../../domain/alerts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/clock.ts';

/** A team, its shifts and a few rooms of a chat. */
export const MAX_CHANNELS = 20;

/** What is wrong now, as the rows say. */
export interface Condition {
  readonly kind: AlertKind;
  /** What it is about: a supplier, or "" for the environment. */
  readonly subject: string;
  /** One or two sentences for people. Names no buyer. */
  readonly detail: string;
}

export interface OpenAlert extends Condition {
  readonly id: bigint;
  readonly toldAt: Date;
  readonly endingSince: Date | null;
}

/** A condition that comes and goes within this is one alert. */
export const CLOSES_AFTER_MS = 10 * MINUTE_MS;

/** A critical alert is for the shift, a warning for the next working day. */
const TOLD_AGAIN_AFTER_MS: Readonly<Record<Severity, number>> = { critical: 4 * HOUR_MS, warning: DAY_MS };

export interface AlertPlan {
  readonly opens: readonly Condition[];
  /** Still so, with today's words. */
  readonly goesOn: readonly OpenAlert[];
  readonly reminds: readonly OpenAlert[];
  /** Its condition has just ended. */
  readonly ends: readonly OpenAlert[];
  readonly closes: readonly OpenAlert[];
}

const keyOf = ({ kind, subject }: Pick<Condition, 'kind' | 'subject'>): string => `${kind} ${subject}`;

export function planAlerts(
  open: readonly OpenAlert[],
  conditions: readonly Condition[],
  now: Date,
): AlertPlan {
  const found = new Map(conditions.map((one) => [keyOf(one), one]));
  const known = new Set(open.map(keyOf));
  const ageOf = (at: Date): number => now.getTime() - at.getTime();
  const goesOn = open.flatMap((alert) => {
    const condition = found.get(keyOf(alert));
    return condition ? [{ ...alert, detail: condition.detail }] : [];
  });
  const over = open.filter((alert) => !found.has(keyOf(alert)));
  return {
    opens: [...found.values()].filter((one) => !known.has(keyOf(one))),
    goesOn,
    reminds: goesOn.filter(({ kind, toldAt }) => ageOf(toldAt) >= TOLD_AGAIN_AFTER_MS[severityOf(kind)]),
    ends: over.filter(({ endingSince }) => endingSince === null),
    closes: over.filter(({ endingSince }) => endingSince !== null && ageOf(endingSince) >= CLOSES_AFTER_MS),
  };
}

export interface ChannelFilter {
  readonly minSeverity: Severity;
  /** Empty: all. */
  readonly kinds: readonly AlertKind[];
}

export const wants = ({ minSeverity, kinds }: ChannelFilter, kind: AlertKind): boolean =>
  SEVERITIES.indexOf(severityOf(kind)) >= SEVERITIES.indexOf(minSeverity) &&
  (kinds.length === 0 || kinds.includes(kind));

export interface AlertWords {
  readonly what: AlertMessage;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly environment: string;
  /** The page of alerts. */
  readonly url: string;
}

const PREFIXES: Readonly<Record<AlertMessage, string>> = {
  opened: '',
  reminder: 'Still open: ',
  resolved: 'Resolved: ',
  test: 'Test: ',
};

/** In one line. */
export const subjectOf = ({ what, severity, title, environment }: AlertWords): string =>
  `[${environment}, ${severity}] ${PREFIXES[what]}${title}`;

export const mailText = (words: AlertWords): string => [words.detail, words.url].join('\n\n');

/** Slack's escapes, so that no text becomes a link or a mention. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The body that Slack's incoming webhooks take; others understand `text`. */
export function slackBody(words: AlertWords) {
  const text = escaped(subjectOf(words));
  const section = (said: string) => ({ type: 'section', text: { type: 'mrkdwn', text: said } });
  return { text, blocks: [section(`*${text}*`), section(`${escaped(words.detail)}\n<${words.url}|Alerts>`)] };
}
