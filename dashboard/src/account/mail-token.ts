import { useEffect, useState } from 'react';

/**
 * The token of a mail's link. It stands behind `#`, which the browser sends to no server, and is taken out of the address and the history once it is read. A
 * link that was cut short has none.
 */
export function useMailToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '');
  useEffect(() => {
    if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  }, [token]);
  return token;
}
