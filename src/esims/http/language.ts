import type { Visitor } from '../../platform/http/route.ts';
import { LANGUAGES, type Language } from '../install-texts/languages.ts';

/** From `?lang=`, else from the browser’s preferences. A language without texts is ignored. */
export function languageOf(visitor: Pick<Visitor, 'preferredLanguage' | 'queryValue'>): Language {
  const chosen = visitor.queryValue('lang');
  const preferred = visitor.preferredLanguage(...LANGUAGES);
  return (
    LANGUAGES.find((one) => one === chosen) ?? LANGUAGES.find((one) => one === preferred) ?? LANGUAGES[0]
  );
}
