/**
 * `T`, provided that it has no fields but those named: who takes one as a parameter does not compile any more once the
 * core tells of something that is not handled there.
 */
export type OnlyFields<T, Known extends keyof T> = T & Record<Exclude<keyof T, Known>, never>;
