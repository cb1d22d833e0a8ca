import { AppShell, Burger, Group, NavLink, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Icon } from '@tabler/icons-react';
import {
  Link,
  useLocation,
  type AnyRoute,
  type LinkProps,
  type StaticDataRouteOption,
} from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { HasNavigated } from './parts.tsx';

const PAGE = 'page';

/** Of a route that is in the list of pages. */
export interface ListedPage<Permission> {
  readonly label: string;
  readonly icon: Icon;
  /** Without it everybody sees the page. */
  readonly needs?: Permission;
}

interface AppPage {
  readonly to: NonNullable<LinkProps['to']>;
  readonly label: string;
  readonly icon: Icon;
  readonly isShown: boolean;
}

/** The pages of these routes, in their order. */
export const pagesOf = <Permission,>(
  routes: unknown,
  pageOf: (data: StaticDataRouteOption) => ListedPage<Permission> | undefined,
  may: (permission: Permission) => boolean,
): AppPage[] =>
  Object.values(routes as Readonly<Record<string, AnyRoute>>).flatMap(({ to, options }) => {
    const page = pageOf(options.staticData ?? {});
    const isShown = page?.needs === undefined || may(page.needs);
    return page ? [{ ...page, to: to as AppPage['to'], isShown }] : [];
  });

/**
 * The frame of every page after sign-in: header, list of pages, and the page itself. The first page of the
 * list is the home page.
 */
export function AppLayout({
  environment,
  tools,
  pages,
  above,
  below,
  children,
}: {
  /** Beside the name, at the left of the header. */
  readonly environment: ReactNode;
  /** At the right of the header; below the name on a phone. */
  readonly tools: ReactNode;
  readonly pages: readonly AppPage[];
  /** Above and below the list of pages. */
  readonly above?: ReactNode;
  readonly below?: ReactNode;
  readonly children: ReactNode;
}) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  return (
    <HasNavigated value={useHasNavigated()}>
      <a
        className="skip-link"
        href={`#${PAGE}`}
        onClick={(event) => {
          // The address stays the page's own.
          event.preventDefault();
          document.getElementById(PAGE)?.focus();
        }}
      >
        Skip to the page
      </a>
      <AppShell
        header={{ height: { base: 104, sm: 56 } }}
        navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
        padding="md"
      >
        <AppShell.Header px="md" py={8}>
          <Group justify="space-between" gap="xs">
            <Group gap="xs" wrap="nowrap">
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              />
              <Text fw={700}>Simway</Text>
              {environment}
            </Group>
            <Group gap="xs" wrap="nowrap" flex={{ base: '1 1 100%', sm: '0 1 auto' }} justify="space-between">
              {tools}
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label="Pages">
          {above !== undefined && <AppShell.Section mb="xs">{above}</AppShell.Section>}
          <AppShell.Section grow component={ScrollArea}>
            <PageList pages={pages} onChosen={close} />
          </AppShell.Section>
          {below !== undefined && <AppShell.Section p="xs">{below}</AppShell.Section>}
        </AppShell.Navbar>
        <AppShell.Main id={PAGE} tabIndex={-1}>
          {children}
        </AppShell.Main>
      </AppShell>
    </HasNavigated>
  );
}

function useHasNavigated(): boolean {
  const { pathname } = useLocation();
  const [first] = useState(pathname);
  const [hasNavigated, setHasNavigated] = useState(false);
  if (!hasNavigated && pathname !== first) setHasNavigated(true);
  return hasNavigated;
}

function PageList({
  pages,
  onChosen,
}: {
  readonly pages: readonly AppPage[];
  readonly onChosen: () => void;
}) {
  const home = pages[0]?.to;
  return pages
    .filter(({ isShown }) => isShown)
    .map(({ to, label, icon: PageIcon }) => (
      <NavLink
        key={to}
        label={label}
        leftSection={<PageIcon size={18} aria-hidden />}
        onClick={onChosen}
        renderRoot={(props) => (
          <Link
            {...props}
            to={to}
            activeOptions={{ exact: to === home, includeSearch: false }}
            activeProps={{ 'data-active': true }}
          />
        )}
      />
    ));
}
