"""What keeps acts for ever: triggers in the database itself that refuse to change or delete them."""

from collections.abc import Collection

from eds.labels.schema import APPEND_ONLY


def triggers(dialect: str, tables: Collection[str] = APPEND_ONLY) -> dict[str, list[str]]:
    """The statements that make each append-only trigger of these tables, by name, replacing existing ones."""
    result = {}
    for table in sorted(set(APPEND_ONLY) & set(tables)):
        for act in ("UPDATE", "DELETE"):
            name = f"{table}_no_{act.lower()}"
            says = f"{table} is append-only"
            if dialect == "sqlite":
                body = f"BEGIN SELECT RAISE(ABORT, '{says}'); END"
                result[name] = [
                    f"DROP TRIGGER IF EXISTS {name}",
                    f"CREATE TRIGGER {name} BEFORE {act} ON {table} {body}",
                ]
            else:
                result[name] = _postgresql_trigger(name, table, act, "ROW", says)
        if dialect != "sqlite":
            name = f"{table}_no_truncate"
            result[name] = _postgresql_trigger(name, table, "TRUNCATE", "STATEMENT", f"{table} is append-only")
    return result


def _postgresql_trigger(name: str, table: str, act: str, level: str, says: str) -> list[str]:
    return [
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{says}'; END $$",
        f"DROP TRIGGER IF EXISTS {name} ON {table}",
        f"CREATE TRIGGER {name} BEFORE {act} ON {table} FOR EACH {level} EXECUTE FUNCTION {name}()",
    ]
