/** What the pages of operators read. */
import { queryOptions } from '@tanstack/react-query';
import { readOps, type OpsSchemas as Schemas } from '../api/client.ts';
import type { Environment } from '../ui/environment.ts';

export type StuckItem = Schemas['StuckItem'];
export type PurchaseTimeline = Schemas['PurchaseTimeline']['data'];
export type ActionRecord = Schemas['ActionRecord'];
export type PurchaseActions = Schemas['Actions']['data'];
export type Action = ActionRecord['action'];
export type Difference = Schemas['Difference'];
export type Person = Schemas['Person'];
export type Role = Person['role'];
export type Rates = Schemas['Rates']['data'];
export type Prices = Schemas['Prices']['data'];
export type PriceTerms = Schemas['PreviewPricesRequest'];
export type PricePreview = Schemas['PricePreview']['data'];
export type OnSale = Schemas['OnSale']['data'];
export type StuckClass = StuckItem['class'];
export type BatchRepair = Schemas['BatchRepair'];
export type BatchRepairDetails = Schemas['BatchRepairDetails']['data'];
export type BatchRepairPlan = Schemas['BatchRepairPreview']['data'];
export type BatchRepairAction = BatchRepair['action'];
export type AuditLine = Schemas['AuditLine'];
export type ListedAccount = Schemas['ListedAccount'];
export type AccountOverview = Schemas['AccountOverview']['data'];
export type Found = Schemas['Found'];
export type Overview = Schemas['Overview']['data'];
export type AccountMember = Schemas['AccountMember'];
export type AccountKey = Schemas['AccountKey'];
export type AccountEndpoint = Schemas['AccountEndpoint'];
export type AccountMessage = Schemas['AccountMessage'];

/** The parameters of a route about one thing in an environment. */
export const inPath = <Path>(environment: Environment, path: Path) => ({
  params: { path, query: { environment } },
});

export const operatorQuery = queryOptions({
  queryKey: ['ops', 'me'],
  queryFn: () => readOps('/ops/me', {}),
  staleTime: Infinity,
});
