import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';

interface Download {
  readonly name: string;
  readonly label: string;
  /** Where the label does not say of what. */
  readonly 'aria-label'?: string;
  readonly read: () => Promise<File>;
}

/** As a request answers that is parsed as a blob. */
export interface File {
  readonly data?: unknown;
  readonly response?: Response;
}

/** Where the next file begins; null: this one is whole. */
export const nextOf = ({ response }: File): string | null => response?.headers.get('Simway-Next') ?? null;

export const DownloadCsv = ({
  label = 'Download as CSV',
  read,
  ...file
}: Partial<Pick<Download, 'label'>> & Omit<Download, 'label'>) => (
  <DownloadFile
    label={label}
    read={async () => {
      const { data, ...answer } = await read();
      return { ...answer, data: new Blob([BYTE_ORDER_MARK, data as Blob], { type: 'text/csv' }) };
    }}
    {...file}
  />
);

/** Reads a file with the headers of every other request, then hands it to the browser under `name`. */
export function DownloadFile({ name, label, read, 'aria-label': ariaLabel }: Download) {
  const saving = useMutation({
    meta: { changesNothing: true },
    mutationFn: async () => {
      const file = await read();
      save(file.data as Blob, name);
      return nextOf(file);
    },
    onSuccess: (next) =>
      notifications.show(
        next === null
          ? { message: `Downloaded ${name}` }
          : {
              ...{ color: 'yellow', autoClose: false, title: `${name} is not whole` },
              message: 'More match than one file has. Do not sum it: choose fewer days, or another filter.',
            },
      ),
    onError: ({ message }) => notifications.show({ color: 'red', message }),
  });
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={ariaLabel}
      loading={saving.isPending}
      onClick={() => saving.mutate()}
    >
      {label}
    </Button>
  );
}

/** Without it Excel takes UTF-8 for another encoding, and shows broken letters. */
const BYTE_ORDER_MARK = '\uFEFF';

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
