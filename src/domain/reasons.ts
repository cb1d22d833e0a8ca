/** What people write to say why: for an action, a difference, a price or a change of an account. */
export const MIN_REASON_CHARACTERS = 3;
/** A few sentences: more belongs where the evidence is. */
export const MAX_REASON_CHARACTERS = 500;
