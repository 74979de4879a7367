-- For Spark: facts of the lake that the variable LAKE names, a folder or a bucket, with the columns that are asked about.
-- Only files that an increment names: what a run that was killed has left would be facts twice.
CREATE OR REPLACE TEMPORARY VIEW increments (files ARRAY<STRUCT<name: STRING>>)
USING json OPTIONS (path '${LAKE}/increments');
CREATE OR REPLACE TEMPORARY VIEW lake_files (
    transaction_id STRING, use_case_name STRING, source STRING, sequence BIGINT, is_joined BOOLEAN, kind STRING,
    name STRING, outcome STRING, duration_us BIGINT, attributes STRING
) USING json OPTIONS (path '${LAKE}/facts');
CREATE OR REPLACE TEMPORARY VIEW facts AS
SELECT * FROM (SELECT *, regexp_extract(input_file_name(), '[^/]+$', 0) AS file FROM lake_files)
WHERE file IN (
    SELECT regexp_extract(listed, '[^/]+$', 0) FROM increments LATERAL VIEW explode(files.name) AS listed);
