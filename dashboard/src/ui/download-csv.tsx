import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';

interface Download {
  readonly name: string;
  readonly label: string;
  /** Where the label does not say of what. */
  readonly 'aria-label'?: string;
  readonly read: () => Promise<Blob>;
}

export const DownloadCsv = ({
  label = 'Download as CSV',
  read,
  ...file
}: Partial<Pick<Download, 'label'>> & Omit<Download, 'label'>) => (
  <DownloadFile
    label={label}
    read={async () => new Blob([BYTE_ORDER_MARK, await read()], { type: 'text/csv' })}
    {...file}
  />
);

/** Reads a file with the headers of every other request, then hands it to the browser under `name`. */
export function DownloadFile({ name, label, read, 'aria-label': ariaLabel }: Download) {
  const saving = useMutation({
    meta: { changesNothing: true },
    mutationFn: async () => save(await read(), name),
    onSuccess: () => notifications.show({ message: `Downloaded ${name}` }),
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
