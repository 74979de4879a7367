-- For DuckDB, behind Schemas/duckdb.sql: facts of the file(s) that the environment variable FACTS names.
CREATE OR REPLACE TEMP VIEW facts AS FROM waybill_ndjson(getenv('FACTS'));
-- As Spark calls it.
CREATE OR REPLACE TEMP MACRO get_json_object(document, path) AS json_extract_string(document, path);
