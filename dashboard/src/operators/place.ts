/** Where the reader is and who they are: read by every page of operators. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { currentUserQuery, type CurrentUser } from '../app/session.ts';
import type { Environment } from '../ui/environment.ts';
import { operatorQuery, type BatchRepairAction } from './data.ts';

export type Permission = NonNullable<CurrentUser['operator']>['permissions'][number];

/** The environment in the address. */
export const useEnvironment = (): Environment => useParams({ from: '/operators/$environment' }).environment;

/**
 * Who is signed in, and what their role may do. The service decides again with every request. Only below
 * OperatorLayout.
 */
export function useOperator() {
  const {
    data: { user, operator, environments },
  } = useSuspenseQuery(currentUserQuery);
  if (!operator) throw new Error('These pages are for people who operate the service');
  const { permissions, role } = operator;
  return {
    ...{ email: user.email, name: user.name, role, environments },
    may: (permission: Permission) => permissions.includes(permission),
    mayRepair: (action: BatchRepairAction) =>
      action === 'replay' ? permissions.includes('replay') : operator.actions.includes(action),
  };
}

/** The address of this environment's namespace in the Temporal UI; null where it is not configured. */
export function useTemporalUi(): string | null {
  const environment = useEnvironment();
  const { data } = useQuery(operatorQuery);
  const ui = data?.temporalUi;
  const namespace = ui?.namespaces[environment] ?? null;
  return ui && namespace !== null ? `${ui.url}/namespaces/${namespace}` : null;
}
