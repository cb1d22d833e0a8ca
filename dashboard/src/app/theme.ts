import { createTheme, Modal, Notification } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'blue',
  // The darker shade keeps white text on it readable (WCAG AA).
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // A screen reader needs a name for the button.
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});
