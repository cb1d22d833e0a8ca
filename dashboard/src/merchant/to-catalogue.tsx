import { LinkButton } from '../ui/parts.tsx';
import { useMembership } from './place.ts';

/** Below an empty list: for those who buy. */
export function ToCatalogue() {
  const { may } = useMembership();
  return may('purchase') ? (
    <LinkButton to="/m/$accountId/$environment/catalogue">Choose an eSIM</LinkButton>
  ) : null;
}
