/** The generated client names this type of the DOM; the types of Node lack it. */
type BodyInit = NonNullable<RequestInit['body']>;
