/**
 * What an install page and the e-mail with its link say, in one language. A text that is missing in one of
 * them does not compile.
 */
import type { DiagnosisCode } from '../diagnosis.ts';

interface Words {
  readonly title: string;
  readonly text: string;
}

/** A likely cause and what to do about it, each one sentence. */
interface Advice {
  readonly summary: string;
  readonly nextStep: string;
}

type Steps = readonly [string, string, string, ...string[]];

export interface InstallTexts {
  /** The language's own name. */
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  /** For Intl: how dates and numbers are written. */
  readonly locale: string;
  readonly chooseLanguage: string;
  /** By the state of the installation. */
  readonly ready: Words;
  readonly installed: Words;
  readonly notDelivered: Words;
  readonly ended: Words;
  /** Facts about the plan. */
  readonly plan: {
    readonly heading: string;
    readonly dataLeft: string;
    /** `left` and `total` with their units. */
    readonly of: (left: string, total: string) => string;
    /**
     * Before it is installed, and before it is used, with the time until then and how long it is valid
     * afterwards.
     */
    readonly installBy: string;
    readonly firstUseBy: string;
    readonly validFor: string;
    /** From the first use on. */
    readonly timeLeft: string;
    readonly validUntil: string;
    /** `age` such as "5 minutes ago". */
    readonly asOf: (age: string) => string;
  };
  readonly oneTap: Words & {
    readonly iphone: string;
    readonly iphoneNote: string;
    readonly android: string;
    readonly androidNote: string;
  };
  readonly qr: Words & { readonly label: string };
  readonly byHand: Words & {
    readonly smdpAddress: string;
    readonly matchingId: string;
    readonly activationCode: string;
    readonly apn: string;
    readonly copy: string;
    readonly copied: string;
  };
  readonly steps: {
    readonly heading: string;
    readonly iphone: { readonly title: string; readonly steps: Steps };
    readonly samsung: { readonly title: string; readonly steps: Steps };
    readonly pixel: { readonly title: string; readonly steps: Steps };
  };
  readonly help: {
    readonly heading: string;
    readonly causes: readonly [Advice, Advice, Advice, ...Advice[]];
  };
  readonly keepPrivate: string;
  /** Above the ways to ask the shop. */
  readonly askShop: string;
  /** Top-ups that a traveller agrees to in advance. */
  readonly topUps: Words & {
    /** Labels of two choices, whose values are numbers. */
    readonly howMany: string;
    readonly days: string;
    readonly turnOn: string;
    readonly turnOff: string;
    /** `used` and `most` are numbers, `until` a date. */
    readonly isOn: (used: string, most: string) => string;
    readonly until: (date: string) => string;
  };
  readonly diagnosis: Readonly<Record<DiagnosisCode, Advice>>;
  readonly notFound: Words;
  readonly tooMany: Words;
  readonly unavailable: Words;
  /** To the traveller, from `sender`, who bought the eSIM. */
  readonly email: {
    readonly subject: (packageName: string) => string;
    readonly sent: (sender: string, packageName: string) => string;
    /** Who sends it: we, for a merchant. */
    readonly onBehalfOf: (us: string, name: string) => string;
    /** What the sender calls the order. */
    readonly reference: (reference: string) => string;
    readonly open: string;
    readonly personal: string;
    /** Before the link that stops such mail. */
    readonly stop: string;
    readonly test: string;
  };
}
