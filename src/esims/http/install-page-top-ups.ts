/** Automatic top-ups on the install page: what is offered, or what is on. The forms work without scripts. */
import { html, type Html } from '../../platform/http/html.ts';
import { dateText } from '../install-figures.ts';
import { TEXTS, type Language } from '../install-texts/languages.ts';
import type { PageTopUps } from '../mandates/mandates.ts';
import { TRAVELLER_DAYS } from '../mandates/rules.ts';

/** `path`: where its forms are sent. */
export function topUpsOf(found: PageTopUps, language: Language, path: string): Html {
  const { topUps: texts, locale } = TEXTS[language];
  const action = `${path}?lang=${language}`;
  if ('mandate' in found) {
    const { top_ups: used, max_top_ups: most, expires_at: until } = found.mandate;
    const state = most === null ? '' : texts.isOn(String(used), String(most));
    return html`<section id="top-ups" data-top-ups="on">
      <h2>${texts.title}</h2>
      <p>${state} ${texts.until(dateText(until, locale))}</p>
      <form method="post" action="${action}">
        <button name="do" value="end">${texts.turnOff}</button>
      </form>
    </section>`;
  }
  const { priceText, packageName, choices } = found.offer;
  return html`<section id="top-ups" data-top-ups="offered">
    <h2>${texts.title}</h2>
    <p>${texts.text}</p>
    <p class="package"><bdi>${packageName}</bdi></p>
    <p><bdi>${priceText}</bdi></p>
    <form method="post" action="${action}">
      ${choiceOf('topUps', texts.howMany, choices)} ${choiceOf('days', texts.days, TRAVELLER_DAYS)}
      <button name="do" value="agree">${texts.turnOn}</button>
    </form>
  </section>`;
}

function choiceOf(name: string, label: string, values: readonly number[]): Html {
  const options = values.map((value) => `<option>${String(value)}</option>`).join('');
  return html`<label
    >${label}
    <select name="${name}">
      ${{ markup: options }}
    </select></label
  >`;
}
