/** What the operator of a command got wrong: told in its own words, without where in our code it was noticed. */
export class OperatorMistake extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorMistake';
  }
}
