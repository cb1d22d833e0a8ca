import type { Visitor } from '../../../platform/http/route.ts';
import { ar } from './ar.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { pt } from './pt.ts';
import type { InstallTexts } from './texts.ts';

/** The first one is spoken where the visitor wants none of them. */
export const LANGUAGES = ['en', 'fr', 'ar', 'es', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];

export const TEXTS: Readonly<Record<Language, InstallTexts>> = { en, fr, ar, es, pt };

/** From `?lang=`, else from the browser’s preferences. A language without texts is ignored. */
export function languageOf(visitor: Pick<Visitor, 'preferredLanguage' | 'queryValue'>): Language {
  const chosen = visitor.queryValue('lang');
  const preferred = visitor.preferredLanguage(...LANGUAGES);
  return (
    LANGUAGES.find((one) => one === chosen) ?? LANGUAGES.find((one) => one === preferred) ?? LANGUAGES[0]
  );
}
