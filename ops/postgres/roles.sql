-- The logins of docker-compose.yml, made once, when the data folder is still empty: the service's own, which owns nothing and may only take
-- the roles that `migrate` gives their rights to, and Temporal's, which makes its two databases itself.
create role simway_accounts nologin;
create role simway_test nologin;
create role simway_live nologin;
create role simway_app login noinherit password :'app_password' in role simway_accounts, simway_test, simway_live;
create role temporal login createdb password :'temporal_password';
