-- The logins of docker-compose.yml, created once, while the data folder is empty. The service's login owns nothing and may only use the roles
-- whose rights `migrate` grants. Temporal's login creates its two databases itself.
create role simway_accounts nologin;
create role simway_test nologin;
create role simway_live nologin;
create role simway_app login noinherit password :'app_password' in role simway_accounts, simway_test, simway_live;
create role temporal login createdb password :'temporal_password';
