/**
 * Every limit that a caller of the HTTP API can reach, in one place: docs/API.md lists these and a test keeps
 * it equal. Plain constants only; what an operator may change comes in through AppSettings.
 */

/**
 * The largest request body. A purchase is under 1 KiB; 64 KiB leaves room for growth without letting anyone
 * fill memory.
 */
export const MAX_BODY_BYTES = 65_536;
/**
 * A refused body of at most this many bytes is still read and thrown away, so that the caller gets to see the
 * 413.
 */
export const MAX_DISCARDED_BODY_BYTES = 16_777_216;
/**
 * The largest event of the payment gateway: theirs are a few KiB, and one refused for its size would come
 * again for days.
 */
export const MAX_EVENT_BYTES = 1_048_576;
/** The largest event of the supplier: theirs are under 1 KiB, and anyone can send one. */
export const MAX_SUPPLIER_EVENT_BYTES = 16_384;
/** Of events that are being received at the same time: thousands of real ones. */
export const MAX_EVENT_BYTES_IN_FLIGHT = 16_777_216;
/** How deep a body may nest, the outermost object counted as 1. Ours are flat. */
export const MAX_JSON_DEPTH = 8;
/** Members of objects and items of arrays in a body, all levels together. */
export const MAX_JSON_MEMBERS = 200;
/** A batch of 500 rows with every field at its longest, and 500 bytes of metadata each. */
export const MAX_BATCH_BODY_BYTES = 524_288;
/** 500 rows of six fields, with nine texts of metadata: 8,004. Some more, to name a few rows too many. */
export const MAX_BATCH_JSON_MEMBERS = 9_000;
/** What a merchant calls a purchase, a funding or a row: an order number, a name, a mail's id. */
export const MAX_REFERENCE_CHARACTERS = 100;
/** Common at payment gateways. With every value at its longest, a body has room for all of them. */
export const MAX_METADATA_KEYS = 20;
export const MAX_METADATA_KEY_CHARACTERS = 40;
export const MAX_METADATA_VALUE_CHARACTERS = 500;
/** A shop has a handful; each is another place that buyers may be sent to. */
export const MAX_RETURN_HOSTS = 20;
/** The longest name of the internet, and a port. */
export const MAX_RETURN_HOST_CHARACTERS = 259;

/** Parameters in one query string, unknown ones included. */
export const MAX_QUERY_PARAMETERS = 50;
/** Request line and headers together; Node answers 431 above it. */
export const MAX_HEADER_BYTES = 16_384;

export const DEFAULT_PAGE_LIMIT = 10;
export const MAX_PAGE_LIMIT = 100;
/** Of lists without pages by number. */
export const DEFAULT_FEED_LIMIT = 20;
/** Cursors are shorter: room for longer ones of later releases. */
export const MAX_CURSOR_CHARACTERS = 200;
/** No caller pages beyond a hundred million rows on purpose, and the offset stays a small integer. */
export const MAX_PAGE = 1_000_000;
/** A catalogue of 3,000 packages is read in six requests. */
export const MAX_CHANGES_LIMIT = 500;
export const DEFAULT_CHANGES_LIMIT = 100;
export const MAX_SEARCH_CHARACTERS = 100;
export const MAX_PACKAGE_CODE_CHARACTERS = 64;
export const MAX_REGION_CODE_CHARACTERS = 64;
export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
/**
 * What one person may ask for under /ops in a minute: a screen that is refreshed every second, ten times
 * over.
 */
export const PERSON_REQUESTS_PER_MINUTE = 600;
/** Tries to sign in, a minute and address: far more than mistakes, far fewer than guesses. */
export const LOGINS_PER_MINUTE = 10;
export const MAX_EMAIL_CHARACTERS = 254;
/** A long sentence; hashing takes as long for all of them. */
export const MAX_PASSWORD_CHARACTERS = 200;
export const MAX_PERSON_NAME_CHARACTERS = 200;
export const MAX_ACCOUNT_NAME_CHARACTERS = 200;
/** As its column allows: a line of the list of keys. */
export const MAX_KEY_NAME_CHARACTERS = 100;
/** Tokens in links of our mails are signed texts of about 250 characters. */
export const MAX_LINK_TOKEN_CHARACTERS = 1_000;
/** Six digits, or a recovery code of eleven characters. */
export const MAX_SECOND_FACTOR_CHARACTERS = 20;
/** Of one API key. */
export const MAX_ALLOWED_ADDRESSES = 10;
/** Ids of vendors are shorter. */
export const MAX_FOUND_BY_CHARACTERS = 100;
export const MAX_ACTION_KEY_CHARACTERS = 200;
/** Names of actions in the audit log are shorter. */
export const MAX_AUDIT_ACTION_CHARACTERS = 50;
/** Method and path of a refused request. */
export const MAX_AUDIT_SUBJECT_CHARACTERS = 200;
/** Of an account with the plan ENTERPRISE; the command line takes as much. */
export const MAX_ACCOUNT_REQUESTS_PER_MINUTE = 1_000_000;
/** Far above any payment, in minor units. */
export const MAX_MOVED_MINOR = 100_000_000_000n;

/**
 * Purchases of one account that an API process works on at once, if SIMWAY_PURCHASES_AT_ONCE does not say it.
 * Two cores carry some 30 a second so; more at once would keep other accounts waiting. Half of them,
 * rounded up, while another account buys.
 */
export const DEFAULT_PURCHASES_AT_ONCE = 2;
/**
 * Purchases of one account that may wait for those before them, in one process, and for how long: a client
 * that sends a hundred quick ones at a time is served, or fifty while others buy. One that sends more gets
 * 429.
 */
export const MAX_WAITING_PURCHASES = 200;
export const PURCHASE_TURN_WITHIN_MS = 5_000;
/**
 * One that takes longer waits for its supplier or gateway, as a rule, and the next one begins; after half of
 * it beside others. So at least 2.2 begin a second. An account's part at the supplier is as much, and none
 * piles up behind it.
 */
export const LONG_PURCHASE_MS = 900;

/** A key is about 60 characters; anything far longer is junk and is not even hashed. */
export const MAX_API_KEY_CHARACTERS = 200;
export const MAX_REQUEST_ID_CHARACTERS = 128;

/**
 * What one funding of a wallet may ask for, in minor units: up to the gateway's own highest amount. Its
 * lowest depends on the method.
 */
export const MIN_FUNDING_MINOR = 1n;
export const MAX_FUNDING_MINOR = 1_000_000_000n;

/** What one `use` of the sandbox may send: 1 TiB, more than any package holds. */
export const MAX_SANDBOX_USE_BYTES = 1_099_511_627_776;
/** How far one call may move the clock of a sandbox eSIM: longer than the longest package lasts. */
export const MAX_SANDBOX_ADVANCE_SECONDS = 400 * 86_400;

/** Far above any price in naira, in minor units: what is shown as the price can be sent as the limit. */
export const MAX_PRICE_LIMIT_MINOR = 100_000_000_000_000n;

/** Of one API key, in its life. They are counted anew for each purchase. */
export const MAX_KEY_PURCHASES = 100_000;
/** More than there are. */
export const MAX_KEY_COUNTRIES = 300;

/** What the address guard takes as a URL at most. */
export const MAX_URL_CHARACTERS = 2_048;
/** Far above any balance that one would want to be warned of, in minor units. */
export const MAX_LOW_BALANCE_MINOR = 100_000_000_000n;

/**
 * A client must have sent its headers, and then its whole request, this soon: slow senders hold sockets, not
 * threads.
 */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 10_000;
/**
 * A connection whose answers are not read for so long is closed. Any progress restarts the time, so slow
 * lines are fine.
 */
export const WRITE_TIMEOUT_MS = 20_000;
/** Requests of one connection that are sent ahead of their answers. Browsers and common clients send none. */
export const MAX_REQUESTS_IN_PROGRESS = 16;
/** An idle connection takes some 20 KiB. */
export const MAX_CONNECTIONS = 5_000;
/** More than the pool of any merchant's server; a network behind one address can hold several of those. */
export const MAX_CONNECTIONS_PER_ADDRESS = 256;
/** How often Node checks for late requests. */
export const CONNECTIONS_CHECK_INTERVAL_MS = 5_000;
/**
 * Longer than the idle time of common load balancers (60 s), so that the balancer closes first and never
 * meets a closed socket.
 */
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** How long rendered answers may be served at most; the catalogue's revision usually ends its own sooner. */
export const RENDER_CACHE_TTL_MS = 60_000;
export const RENDER_CACHE_BYTES = 67_108_864;

/** Sent with 503, 409 and 429 where the refusal itself names no time. */
export const DEFAULT_RETRY_AFTER_SECONDS = {
  SERVICE_UNAVAILABLE: 5,
  EXCHANGE_RATE_UNAVAILABLE: 60,
  TOO_MANY_UNPAID_PAYMENTS: 60,
  TOO_MANY_BATCHES: 60,
  TOO_MANY_OPEN_QUOTES: 60,
  IDEMPOTENCY_KEY_IN_USE: 1,
} as const;
