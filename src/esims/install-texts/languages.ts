import { ar } from './ar.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { pt } from './pt.ts';
import type { InstallTexts } from './texts.ts';

/**
 * The languages of travellers: of the install page and of the e-mail with its link. The first one is the
 * default.
 */
export const TEXTS = { en, fr, ar, es, pt } as const satisfies Readonly<Record<string, InstallTexts>>;

export type Language = keyof typeof TEXTS;
export const LANGUAGES = Object.keys(TEXTS) as [Language, ...Language[]];
