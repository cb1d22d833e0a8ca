import { createContext } from 'react';

/**
 * Whether the person came to this page from another one. The first page keeps the focus where the browser
 * puts it.
 */
export const HasNavigated = createContext(false);
