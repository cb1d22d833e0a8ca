import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/app.css';
import './ui/pages.css';
import { StrictMode } from 'react';
import { focusManager } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { watchAttention } from './app/attention.ts';

// Dialogs lock the page's scrolling with a style element, whose nonce react-remove-scroll takes from here.
Object.assign(globalThis, {
  __webpack_nonce__: document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content,
});

// Queries poll and refetch only while their page has the focus.
watchAttention(document, window, (isAttended) => focusManager.setFocused(isAttended));

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
