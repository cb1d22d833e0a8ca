-- The logins of docker-compose.yml, for psql as the superuser. Safe to run again: that changes the passwords to those in secrets/, and gives what an
-- older version made as the superuser to its owner. The service's login owns nothing and may only use the roles whose rights `migrate` grants.
-- The owner's login, used by `migrate`, owns the three schemas and may make no logins and no databases. Temporal's creates its two databases itself.
do $$
declare
  missing text;
begin
  for missing in
    select name from unnest(array['simway_accounts', 'simway_test', 'simway_live', 'simway_owner', 'simway_app', 'temporal']) as name
     where not exists (select from pg_roles where rolname = name)
  loop
    execute format('create role %I', missing);
  end loop;
end $$;

alter role simway_owner with login nosuperuser nocreatedb nocreaterole password :'owner_password';
alter role simway_app with login noinherit nosuperuser nocreatedb nocreaterole password :'app_password';
alter role temporal with login createdb nosuperuser nocreaterole password :'temporal_password';
grant simway_accounts, simway_test, simway_live to simway_app;
grant simway_accounts, simway_test, simway_live to simway_owner;

revoke connect on database :"DBNAME" from public;
grant connect on database :"DBNAME" to simway_app;
grant connect, create on database :"DBNAME" to simway_owner;

do $$
declare
  change text;
begin
  for change in
    select format('alter schema %I owner to simway_owner', nspname) from pg_namespace
     where nspname in ('accounts', 'test', 'live')
    union all
    -- Sequences of identity columns and indexes follow their tables.
    select format('alter table %s owner to simway_owner', oid::regclass) from pg_class
     where relnamespace::regnamespace::text in ('accounts', 'test', 'live') and relkind in ('r', 'p', 'v', 'm')
    union all
    select format('alter routine %s owner to simway_owner', oid::regprocedure) from pg_proc
     where pronamespace::regnamespace::text in ('accounts', 'test', 'live')
    union all
    -- Types of their own alone: those of tables follow their tables.
    select format('alter type %s owner to simway_owner', oid::regclass) from pg_class
     where relnamespace::regnamespace::text in ('accounts', 'test', 'live') and relkind = 'c'
  loop
    execute change;
  end loop;
end $$;
