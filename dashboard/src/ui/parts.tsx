import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Code,
  CopyButton,
  Group,
  Pagination,
  Paper,
  Skeleton,
  Stack,
  Text,
  Title,
  Tooltip,
  Anchor,
  type AnchorProps,
  type ButtonProps,
  type MantineSize,
} from '@mantine/core';
import { IconAlertCircle, IconCheck, IconCopy } from '@tabler/icons-react';
import { createContext, Fragment, useContext, useEffect, useRef, type ReactNode } from 'react';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Refusal } from '../api/client.ts';
import { formatAmount, formatMinute, formatMoment } from './format.ts';
import type { Readable } from './use-reading.ts';

/** The first page keeps the focus where the browser puts it. */
export const HasNavigated = createContext(false);

/** The heading of a page, also in the browser's tab. */
export function PageHead({
  title,
  about,
  before,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  /** A picture of what the page is about. */
  readonly before?: ReactNode;
  readonly children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const hasNavigated = useContext(HasNavigated);
  useEffect(() => {
    document.title = `${title} · Simway`;
    // A page that arrives late takes no field or dialog from the person who is in it.
    const isBusy = document.activeElement?.closest('main :is(input, textarea, select), [role="dialog"]');
    if (hasNavigated && !isBusy) heading.current?.focus({ preventScroll: true });
  }, [title, hasNavigated]);
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <div className="page-head">
        <Group gap="sm" wrap="nowrap">
          {before}
          <Title order={1} size="h2" ref={heading} tabIndex={-1}>
            {title}
          </Title>
        </Group>
        {about !== undefined && (
          <Text c="dimmed" size="sm">
            {about}
          </Text>
        )}
      </div>
      {children}
    </Group>
  );
}

export function Page({
  extra,
  maw,
  children,
  ...head
}: {
  readonly title: string;
  readonly about?: string;
  readonly before?: ReactNode;
  readonly extra?: ReactNode;
  readonly maw?: number;
  readonly children?: ReactNode;
}) {
  return (
    <Stack maw={maw} className="page">
      <PageHead {...head}>{extra}</PageHead>
      {children}
    </Stack>
  );
}

interface SectionProps {
  readonly title: string;
  /** What a link to this part has behind `#`. */
  readonly id?: string;
  readonly extra?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, id, extra, children }: SectionProps) {
  return (
    <Paper component="section" withBorder p="md" id={id} aria-label={title}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {extra}
      </Group>
      {children}
    </Paper>
  );
}

/** Values by their names. What is unknown (null, undefined, false, empty) is left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** The shop's own, below what it is about. */
export const OwnReference = ({ children }: { readonly children: string }) =>
  children === '' ? null : (
    <Text size="xs" c="dimmed" className="breakable">
      {children}
    </Text>
  );

/** One line for each text of the shop's own. */
export const metadataFacts = (metadata: Readonly<Record<string, string>>) => ({
  Metadata: Object.keys(metadata).length > 0 && (
    <Stack gap={0}>
      {Object.entries(metadata).map(([key, value]) => (
        <Text key={key} size="sm" className="breakable">
          {key}: {value}
        </Text>
      ))}
    </Stack>
  ),
});

interface QueryViewProps<T> {
  readonly query: Readable<T>;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** Of what the same request would be answered again. */
const isRefused = ({ status }: Refusal): boolean => status === 400 || status === 404;

/** The result of a query: placeholder rows while it loads, the error with a button to try again. */
export function QueryView<T>({ query, rows = 5, children }: QueryViewProps<T>) {
  if (query.data !== undefined)
    return (
      <>
        {query.error && <Failed error={query.error} again={() => void query.refetch()} />}
        {children(query.data)}
      </>
    );
  if (query.error) return <Failed error={query.error} again={() => void query.refetch()} />;
  return (
    <Stack gap="xs" role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={36} />
      ))}
    </Stack>
  );
}

export const QuerySection = <T,>({
  title,
  extra,
  ...view
}: Omit<SectionProps, 'children'> & QueryViewProps<T>) => (
  <Section title={title} extra={extra}>
    <QueryView {...view} />
  </Section>
);

/** An error, with the request id that support asks for. */
export function Failed({
  error,
  again,
}: {
  readonly error: Error;
  readonly again?: (() => void) | undefined;
}) {
  const isFinal = error instanceof Refusal && isRefused(error);
  const requestId = error instanceof Refusal ? error.requestId : undefined;
  const details = error instanceof Refusal ? detailsOf(error) : undefined;
  return (
    <Alert color="red" icon={<IconAlertCircle aria-hidden />} title={error.message} role="alert" my="xs">
      <Stack gap="xs" align="flex-start">
        {details !== undefined && <Text size="sm">{details}</Text>}
        {requestId !== undefined && (
          <Text size="sm">
            Request <Code>{requestId}</Code>
          </Text>
        )}
        {again && !isFinal && (
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** For a person: without the code before them, and not the message again. */
function detailsOf({ details, message }: Refusal): string | undefined {
  const text = details?.replace(/^[A-Z][A-Z_]+: (.)/, (_, first: string) => first.toUpperCase());
  return text === message ? undefined : text;
}

/** Says that there is nothing, and what to do about it. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <Stack gap="sm" align="center" py="lg">
      <Text c="dimmed" ta="center" size="sm">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** A number that the page is about, below what it counts. */
export function Figure({
  name,
  value,
  size = 'lg',
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly size?: 'lg' | 'xl';
}) {
  return (
    <Stack gap={0}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size={size} fw={700} className="amount">
        {value}
      </Text>
    </Stack>
  );
}

export function Amount({ of, currency }: { readonly of: number | null; readonly currency: string | null }) {
  if (of === null || currency === null) return <Text component="span">–</Text>;
  return <span className="amount">{formatAmount(of, currency)}</span>;
}

export function Moment({
  at,
  none = '–',
  isRough = false,
}: {
  readonly at: string | null;
  readonly none?: string;
  /** Kept to some minutes only: no seconds are shown. */
  readonly isRough?: boolean;
}) {
  if (at === null) return <span>{none}</span>;
  if (isRough) return <span>about {formatMinute(at)}</span>;
  return (
    <time dateTime={at} title={at}>
      {formatMoment(at)}
    </time>
  );
}

/** Says so once it has copied. */
export const Copy = ({
  value,
  label = 'Copy',
  size = 'xs',
}: {
  readonly value: string;
  readonly label?: string;
  readonly size?: MantineSize | 'compact-sm';
}) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Button variant="default" size={size} onClick={copy} aria-live="polite">
        {copied ? 'Copied' : label}
      </Button>
    )}
  </CopyButton>
);

/** An id on one line. Where it does not fit, its title has all of it. */
export function ShortId({ children }: { readonly children: string }) {
  return (
    <span className="id" title={children}>
      {children}
    </span>
  );
}

export function ShortCode({ children }: { readonly children: string }) {
  return (
    <Code className="id" title={children}>
      {children}
    </Code>
  );
}

export function Id({ children }: { readonly children: string }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex" maw="100%">
      <ShortCode>{children}</ShortCode>
      <CopyButton value={children}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              onClick={copy}
              aria-label={copied ? 'Copied' : `Copy ${children}`}
            >
              {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}

const COLORS: Readonly<Record<string, string>> = {
  SUCCESS: 'green',
  DONE: 'green',
  PAID: 'green',
  SENT: 'green',
  DELIVERED: 'green',
  COMPLETED: 'green',
  PENDING: 'yellow',
  PROCESSING: 'yellow',
  SCHEDULED: 'yellow',
  WAITS_FOR_APPROVAL: 'yellow',
  RUNNING: 'blue',
  FAILED: 'red',
  REFUSED: 'red',
  DECLINED: 'red',
};

export function Status({
  children,
  color = COLORS[children?.toUpperCase() ?? ''] ?? 'gray',
}: {
  readonly children: string | null;
  readonly color?: string;
}) {
  if (children === null) return <span>–</span>;
  return (
    <Badge variant="light" color={color} className="status">
      {children}
    </Badge>
  );
}

export interface PageOf {
  readonly currentPage: number;
  readonly totalPages: number;
  readonly totalItems: number;
}

export function Pages({
  of: { currentPage, totalPages, totalItems },
  onChange,
}: {
  readonly of: PageOf;
  readonly onChange: (page: number) => void;
}) {
  return (
    <Group justify="space-between" mt="sm">
      <Text size="sm" c="dimmed" role="status">
        {totalItems === 1 ? '1 item' : `${totalItems.toLocaleString()} items`}
      </Text>
      {totalPages > 1 && (
        <Pagination
          total={totalPages}
          value={currentPage}
          onChange={onChange}
          size="sm"
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          getItemProps={(page) => ({ 'aria-label': `Page ${String(page)}` })}
        />
      )}
    </Group>
  );
}

/** A page. Parameters of its path that are not named are those of the page that is open. */
export type Target = Pick<LinkProps, 'to' | 'params' | 'search' | 'hash'>;

/** A link of the router that looks like one. */
export function PageLink({
  to,
  params,
  search,
  hash,
  ...anchor
}: Target & AnchorProps & { readonly title?: string; readonly children: ReactNode }) {
  return (
    <Anchor
      {...anchor}
      renderRoot={(props) => <Link {...props} {...({ to, params, search, hash } as Target)} />}
    />
  );
}

export function LinkButton({
  to,
  params,
  search,
  hash,
  ...button
}: Target & ButtonProps & { readonly children: ReactNode }) {
  return (
    <Button
      {...button}
      renderRoot={(props) => <Link {...props} {...({ to, params, search, hash } as Target)} />}
    />
  );
}

export const NothingFound = ({
  text,
  environment,
  children,
}: {
  readonly text: string;
  readonly environment: string;
  readonly children: ReactNode;
}) => (
  <div role="status">
    <Empty>
      No result for “{text}” in the {environment} environment.
    </Empty>
    <Text ta="center" size="sm">
      {children}
    </Text>
  </div>
);
