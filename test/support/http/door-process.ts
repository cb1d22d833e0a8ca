// The door in a process of its own, for what can only be seen from outside: memory and an orderly end. Talks over IPC.
import { openDoor } from './door.ts';

export type ToParent = { readonly port: number } | { readonly rssBytes: number; readonly heapBytes: number };

const tell = (message: ToParent): void => {
  process.send?.(message);
};

const door = await openDoor();
tell({ port: door.server.port });

process.on('message', (message) => {
  if (message === 'memory') {
    const { rss, heapUsed } = process.memoryUsage();
    tell({ rssBytes: rss, heapBytes: heapUsed });
    return;
  }
  void door.close().then(() => process.disconnect());
});
