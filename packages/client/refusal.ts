interface RefusalFields {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: string | undefined;
  readonly requestId?: string | undefined;
  readonly refusal?: string | undefined;
  readonly fits?: readonly string[] | undefined;
}

/**
 * What the service refused. `details` names fields, as in `email: must be an e-mail address; name: must not
 * be empty`.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: string | undefined;
  readonly requestId: string | undefined;
  /** Of an operator action: docs/OPERATIONS.md says what each means. */
  readonly refusal: string | undefined;
  /** The actions that are available instead. */
  readonly fits: readonly string[];

  constructor({ status, code, message, details, requestId, refusal, fits = [] }: RefusalFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.refusal = refusal;
    this.fits = fits;
  }

  /** The message for each field of a form, and what belongs to none of them. */
  byField(): Readonly<Record<string, string>> {
    const fields: Record<string, string> = {};
    for (const part of (this.details ?? this.message).split('; ')) {
      const [, name, text] = /^([\w.]+): (.+)$/.exec(part) ?? [];
      if (name !== undefined && text !== undefined)
        fields[name] = text.charAt(0).toUpperCase() + text.slice(1);
    }
    return fields;
  }
}

/** Reads every error body that docs/API.md describes. */
export async function refusalFrom(response: Response): Promise<Refusal> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const found = errorIn(body);
  return new Refusal({
    status: response.status,
    code: textOf(found['code']) ?? `HTTP_${String(response.status)}`,
    message:
      textOf(found['message']) ??
      textOf(fieldsOf(body)['message']) ??
      'The service could not do this. Try again in a moment.',
    details: textOf(found['details']),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    refusal: textOf(found['refusal']),
    fits: Array.isArray(found['fits']) ? found['fits'].map(String) : undefined,
  });
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (body: unknown): Fields =>
  typeof body === 'object' && body !== null ? (body as Fields) : {};

/** An object, the body itself, or an object with the message beside it. */
function errorIn(body: unknown): Fields {
  const { error } = fieldsOf(body);
  return typeof error === 'object' && error !== null ? (error as Fields) : fieldsOf(body);
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
