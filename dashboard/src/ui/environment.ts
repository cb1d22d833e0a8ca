export type Environment = 'live' | 'test';
