/** What examples of the reference are: values by the name of the case that each is true for. */
export type Examples = Readonly<Record<string, unknown>>;

export interface OperationExamples {
  readonly request?: Examples;
  /** By status. */
  readonly answers: Readonly<Record<number, Examples>>;
}
