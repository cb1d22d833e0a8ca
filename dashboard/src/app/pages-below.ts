import {
  createRoute,
  lazyRouteComponent,
  type AnyRoute,
  type ResolveFullPath,
  type ResolveId,
  type ResolveParams,
  type StaticDataRouteOption,
} from '@tanstack/react-router';

interface PageOptions<Validator> {
  readonly staticData?: StaticDataRouteOption;
  readonly validateSearch?: Validator;
}

/** Makes the routes below one: each page is loaded when it is first opened. */
export const pagesBelow =
  <Parent extends AnyRoute>(parent: Parent) =>
  <const Path extends string, Name extends string, Validator = undefined>(
    path: Path,
    load: () => Promise<{ readonly [Key in Name]: () => void }>,
    name: Name,
    options: PageOptions<Validator> = {},
  ) =>
    createRoute<
      unknown,
      Parent,
      Path,
      ResolveFullPath<Parent, Path>,
      string,
      ResolveId<Parent, string, Path>,
      // Of the list that the route stands in, nothing is inferred.
      NoInfer<Validator>,
      ResolveParams<Path>
    >({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(load, name),
      ...(options as object),
    });
