/** The one scale of type and space, in steps of 4 px. Pages name a step of it, and no size of their own. */
import { createTheme, Modal, Notification, Skeleton } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'blue',
  // The darker shade keeps white text on it readable (WCAG AA).
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  /** Notes, cells and labels, texts, figures that are compared, the figure of a page. */
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '1rem', lg: '1.25rem', xl: '1.75rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.3', xl: '1.2' },
  /** Within a part, between two of them, within a frame, between groups, around a page. */
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  headings: {
    sizes: {
      h1: { fontSize: '1.75rem', lineHeight: '1.25' },
      h2: { fontSize: '1.5rem', lineHeight: '1.3' },
      h3: { fontSize: '1.25rem', lineHeight: '1.35' },
      h4: { fontSize: '1.125rem', lineHeight: '1.4' },
      h5: { fontSize: '1rem', lineHeight: '1.45' },
    },
  },
  components: {
    // A screen reader needs a name for the button.
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    Skeleton: Skeleton.extend({ defaultProps: { radius: 'sm' } }),
  },
});

/** Widths of fields and forms, in px. */
export const WIDTHS = { number: 176, choice: 288, form: 448 } as const;
