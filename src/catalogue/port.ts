import { Unavailable } from '../domain/outcome.ts';
import type { CataloguePackage, Region } from './rules.ts';

/** The supplier did not answer. */
export class SupplierUnavailable extends Unavailable {}

export interface SupplierCatalogue {
  /** Its name. */
  readonly supplier: string;
  readonly regions: readonly Region[];
  /** BASE packages only; top-ups are listed per package. */
  readonly packages: readonly CataloguePackage[];
}

/** The wholesale supplier, as the catalogue reads it. */
export interface PackageSupplier {
  readonly name: string;
  /** All regions and BASE packages. Throws SupplierUnavailable. */
  catalogue(): Promise<SupplierCatalogue>;
  /** The top-up packages that fit a BASE package; empty when it takes none. Throws SupplierUnavailable. */
  topUps(packageCode: string): Promise<readonly CataloguePackage[]>;
}

export interface RateObservation {
  readonly source: string;
  /** ISO 4217 → how much of it one US dollar is, as decimal text: floating point would lose digits. */
  readonly ratesPerUsd: Readonly<Record<string, string>>;
  readonly observedAt: Date;
  /** Set by an operator, so it needs no second source. */
  readonly setByOperator?: true;
}

export interface RateSource {
  readonly name: string;
  /** Throws when the provider cannot be reached or answers anything that is not a rate. */
  observe(): Promise<RateObservation>;
}
