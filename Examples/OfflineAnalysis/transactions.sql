-- One row for each transaction, from the view `facts`. This and the questions are the same text for DuckDB and for Spark.
CREATE OR REPLACE TEMPORARY VIEW transactions AS
SELECT transaction_id,
    any_value(use_case_name) AS use_case,
    any_value(get_json_object(attributes, '$.variant')) FILTER (WHERE kind = 'begun') AS variant,
    any_value(outcome) FILTER (WHERE kind = 'finished' AND NOT is_joined) AS outcome, -- NULL if it has not finished, or if its end has not arrived
    any_value(duration_us) FILTER (WHERE kind = 'finished' AND NOT is_joined) AS duration_us,
    array_agg(DISTINCT name) FILTER (WHERE kind = 'event') AS events
FROM facts
WHERE transaction_id IS NOT NULL
GROUP BY transaction_id
HAVING count(*) FILTER (WHERE kind = 'begun') > 0; -- only transactions whose beginning has arrived
