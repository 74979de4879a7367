-- For DuckDB, behind Schemas/duckdb.sql: facts of the lake in the folder that the environment variable LAKE names.
-- Only files that an increment names: what a run that was killed has left would be facts twice.
SET VARIABLE lake_files = (
    SELECT list(file) FROM glob(getenv('LAKE') || '/facts/*')
    WHERE parse_filename(file) IN (
        SELECT parse_filename(unnest(files).name) FROM read_json(getenv('LAKE') || '/increments/*.json')));
CREATE OR REPLACE TEMP VIEW facts AS FROM waybill_ndjson(getvariable('lake_files'));
-- As Spark calls it.
CREATE OR REPLACE TEMP MACRO get_json_object(document, path) AS json_extract_string(document, path);
