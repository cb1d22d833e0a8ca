import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';

/** Reads a file with the headers of every other request, then hands it to the browser under `name`. */
export function DownloadCsv({ name, read }: { readonly name: string; readonly read: () => Promise<Blob> }) {
  const saving = useMutation({
    meta: { changesNothing: true },
    mutationFn: async () => save(await read(), name),
    onSuccess: () => notifications.show({ message: `Downloaded ${name}` }),
    onError: ({ message }) => notifications.show({ color: 'red', message }),
  });
  return (
    <Button size="compact-sm" variant="default" loading={saving.isPending} onClick={() => saving.mutate()}>
      Download as CSV
    </Button>
  );
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
