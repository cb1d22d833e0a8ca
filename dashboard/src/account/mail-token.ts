import { useEffect, useState } from 'react';

const tokenInAddress = (): string => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';

/**
 * The token of a mail's link. It stands behind `#`, which the browser sends to no server, and is taken out of
 * the address and the history once it is read. A link that was cut short has none.
 */
export function useMailToken(): string {
  const [token, setToken] = useState(tokenInAddress);
  useEffect(() => {
    const take = () => {
      const next = tokenInAddress();
      if (next === '') return;
      setToken(next);
      window.history.replaceState(window.history.state, '', window.location.pathname);
    };
    take();
    // A link that is opened on the page it leads to loads nothing: only what is behind `#` changes.
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return token;
}
