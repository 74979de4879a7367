-- How long do logins that succeed take, in each variant?
SELECT variant, count(*) AS succeeded,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_us) / 1000, 1) AS p50_ms,
    round(percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_us) / 1000, 1) AS p95_ms
FROM transactions
WHERE outcome = 'succeeded'
GROUP BY variant
ORDER BY variant;
