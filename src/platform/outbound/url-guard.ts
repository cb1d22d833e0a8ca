/** Whether a URL that somebody else wrote down may be called at all: webhook endpoints, and the websites of companies. */

/**
 * Why a URL is refused. `spelling`: an address that is not written in its plain form. `address`: it is, or leads to, an address that is not
 * public. `name`: no host name of the public internet. `unresolved`: a name that leads nowhere now. `no-answer`: nobody answers there.
 */
export type UrlRefusal =
  | 'not-a-url'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'spelling'
  | 'address'
  | 'name'
  | 'unresolved'
  | 'no-answer';

/** `detail` is for whoever wrote the URL; it tells nothing of our network. */
export type UrlVerdict =
  { readonly ok: true } | { readonly ok: false; readonly reason: UrlRefusal; readonly detail: string };

export interface UrlGuard {
  /**
   * Whether the URL may be kept: how it is written, and every address that its name leads to now. Never throws. What passes is checked
   * again whenever a connection is made, since names can be made to lead elsewhere later.
   */
  check(url: string): Promise<UrlVerdict>;
  /** The same, and whether a web server answers there, with whatever status; redirects are answers. Never throws. */
  reach(url: string): Promise<UrlVerdict>;
}
